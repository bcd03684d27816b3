"""The figures for Prometheus. One registry a service, so that two in one process do not mix.

Labels have few values, all of them our own words or route templates: never a path, a question or a client's text.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector

from app.ops.traffic import Passed
from app.providers.http.circuit import Circuit
from graph.result import Result

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
"""Bucket bounds of whole requests and questions."""

STAGE_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
"""Bucket bounds of one stage: the quick ones take less than a millisecond."""

CIRCUIT_STATES = ("closed", "half_open", "open")


class Metrics:
    """Counts what is observed, and reads the rest when it is asked for."""

    def __init__(self, *, info: Mapping[str, str], places: int) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "garden_http_requests",
            "Requests that are over, by door, route template, method and status.",
            ["door", "route", "method", "status"],
            registry=self.registry,
        )
        self._request_seconds = Histogram(
            "garden_http_request_seconds",
            "Time from a request's first line to its answer's last byte.",
            ["door"],
            buckets=SECONDS,
            registry=self.registry,
        )
        self._questions = Counter(
            "garden_questions", "Questions asked of the graph, by outcome.", ["outcome"], registry=self.registry
        )
        self._question_seconds = Histogram(
            "garden_question_seconds",
            "Time of one question, waiting for a place included.",
            buckets=SECONDS,
            registry=self.registry,
        )
        self._stage_seconds = Histogram(
            "garden_stage_seconds",
            "Time of one stage of a question.",
            ["stage"],
            buckets=STAGE_SECONDS,
            registry=self.registry,
        )
        self._overloads = Counter(
            "garden_overloads", "Questions turned away, since no place was free in time.", registry=self.registry
        )
        self._chunks = Gauge("garden_chunks", "Chunks stored.", ["collection"], registry=self.registry)
        self._counted: set[str] = set()
        self._ready = Gauge("garden_ready", "1 when readiness is 200, else 0.", registry=self.registry)
        build = Gauge("garden_build_info", "What runs here; always 1.", [*info, "python"], registry=self.registry)
        build.labels(**info, python=platform.python_version()).set(1)
        Gauge("garden_places", "Questions that may run at once.", registry=self.registry).set(places)
        # labels() looks its child up under a lock; these few are looked up once.
        self._outcomes: dict[str, Counter] = {}
        self._stages: dict[str, Histogram] = {}
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)

    def request(self, passed: Passed) -> None:
        """Count a request that is over."""
        self._requests.labels(passed.door, passed.route or "none", passed.method, str(passed.status)).inc()
        self._request_seconds.labels(passed.door).observe(passed.seconds)

    def question(self, result: Result) -> None:
        """Count a question that is over."""
        if result.outcome not in self._outcomes:
            self._outcomes[result.outcome] = self._questions.labels(result.outcome)
        self._outcomes[result.outcome].inc()
        self._question_seconds.observe(result.processing_ms / 1000)
        if result.outcome == "overloaded":
            self._overloads.inc()
        for stage, milliseconds in result.timings.items():
            if stage not in self._stages:
                self._stages[stage] = self._stage_seconds.labels(stage)
            self._stages[stage].observe(milliseconds / 1000)

    def stored(self, collection: str, chunks: int | None) -> None:
        """Note how many *chunks* a collection holds; None where that cannot be told: then nothing is said of it."""
        if chunks is not None:
            self._chunks.labels(collection).set(chunks)
            self._counted.add(collection)
        elif collection in self._counted:
            self._chunks.remove(collection)
            self._counted.discard(collection)

    def ready(self, ready: bool) -> None:
        """Note whether work may be sent here."""
        self._ready.set(ready)

    def watch(self, read: Callable[[], Iterator[Metric]]) -> None:
        """Ask *read* at every scrape."""
        self.registry.register(_Read(read))

    def text(self) -> bytes:
        """All figures, in Prometheus' text format."""
        return generate_latest(self.registry)


class _Read(Collector):
    def __init__(self, read: Callable[[], Iterator[Metric]]) -> None:
        self._read = read

    def collect(self) -> Iterator[Metric]:
        return self._read()


def gauge(name: str, text: str, value: float) -> Metric:
    """One figure read at the scrape."""
    return GaugeMetricFamily(name, text, value=value)


def circuit_states(circuits: Mapping[str, Circuit]) -> Metric:
    """The state of every remote part's circuit: 1 for the state it is in, 0 for the others."""
    family = GaugeMetricFamily("garden_circuit_state", "Circuit of a remote part.", labels=["part", "state"])
    for part, circuit in circuits.items():
        now = circuit.state
        for state in CIRCUIT_STATES:
            family.add_metric([part, state], float(state == now))
    return family


def model_tokens(spent: Mapping[str, int]) -> Metric:
    """Tokens of the chat model, as it counts them, by ``kind``: "input" and "output"."""
    family = CounterMetricFamily("garden_model_tokens", "Tokens the chat model says it used.", labels=["kind"])
    for kind, count in spent.items():
        family.add_metric([kind], count)
    return family
