"""The comparison: every service asked the same questions in rounds that take turns, so that a slow minute hits all."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import httpx

from app.providers.embeddings.weights import find_weights
from bench.corpus import Corpus
from bench.floor import NEW
from bench.index import Indexes
from bench.load import LoadClient, Outcome, Round, percentile
from bench.process import Measured, environment, free_port, size_mb
from bench.services import OURS, ROOT, Place, Service

ANSWERED = "[1]"
"""What every answer of the model peer holds."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How much is measured. Times in seconds."""

    services: Sequence[Service]
    latencies_ms: Sequence[int] = (0, 200)
    concurrency: Sequence[int] = (1, 8, 32)
    rounds: int = 3
    seconds: float = 5.0
    streams: int = 40
    starts: int = 2
    warm_up: float = 3.0
    envs: Path = Path("bench/.envs")
    cache: Path = Path("bench/.cache")


@dataclass(slots=True)
class Running:
    """A service that is being measured, and what has been found."""

    service: Service
    place: Place
    folder: Path
    port: int
    process: Measured
    asked: int = 0
    """Questions so far."""
    figures: dict[str, float] = field(default_factory=dict)
    found: dict[tuple[int, int], list[dict[str, Any]]] = field(default_factory=dict)
    first_tokens: dict[int, list[float]] = field(default_factory=dict)


class Comparison:
    """One run of a plan over a corpus."""

    def __init__(self, plan: Plan, corpus: Corpus) -> None:
        self._plan = plan
        self._corpus = corpus
        self._indexes = Indexes(plan.cache, corpus)
        self._exit = ExitStack()

    def run(self) -> dict[str, Any]:
        """Measure everything; return the figures."""
        with self._exit:
            work = Path(self._exit.enter_context(tempfile.TemporaryDirectory(prefix="garden-bench-")))
            self._model_url = self._start_model(work)
            self._load = LoadClient()
            self._exit.callback(self._load.close)
            self._prepare()
            running = [self._start(service, work) for service in self._plan.services]
            self._rounds(running)
            for one in running:
                one.figures["memory after the rounds, MB"] = one.process.memory_mb() or math.nan
                one.process.stop()
            floor = self._floor(running)
            return self._result(running, floor)

    def _start_model(self, work: Path) -> str:
        port = free_port()
        command = [sys.executable, "-m", "bench.model_peer", str(port)]
        model = Measured(command, environment(), work / "model.log", ROOT)
        self._exit.callback(model.stop)
        url = f"http://127.0.0.1:{port}"
        model.wait_for(f"{url}/control", {})
        return url

    def _place(self, service: Service) -> Place:
        return Place(service.python(self._plan.envs), find_weights(), self._model_url)

    def _prepare(self) -> None:
        """Make what is missing, ours first: it makes the vectors."""
        for service in [OURS, *(one for one in self._plan.services if not one.ours)]:
            self._indexes.of(service, self._place(service))

    def _start(self, service: Service, work: Path) -> Running:
        """Start the service as often as the plan says; the last one stays, the quickest start counts."""
        place = self._place(service)
        folder = self._indexes.copy(service, place, work)
        body = service.body(self._corpus.questions[0])
        starts = []
        for turn in range(self._plan.starts):
            port = free_port()
            command, env = service.serve_command(place.python, folder, port), service.environment(place, folder)
            process = Measured(command, env, work / f"{service.name}.log", ROOT)
            self._exit.callback(process.stop)
            starts.append(process.wait_for(f"http://127.0.0.1:{port}{service.path}", body))
            if turn < self._plan.starts - 1:
                process.stop()
        running = Running(service, place, folder, port, process)
        running.figures["start to first answer, s"] = min(starts)
        running.figures["memory when idle, MB"] = process.memory_mb()
        running.figures["installed, MB"] = self._installed(service, place)
        print(f"{service.title}: first answer after {min(starts):.1f} s", flush=True)
        return running

    def _installed(self, service: Service, place: Place) -> float:
        own = [ROOT / "app", ROOT / "graph", ROOT / "prompts"] if service.ours else []
        return size_mb(place.python.parent.parent, *own)

    def _rounds(self, running: Sequence[Running]) -> None:
        plan = self._plan
        self._latency(0)
        for one in running:
            self._ask(one, 8, plan.warm_up)
        for turn in range(plan.rounds):
            for latency in plan.latencies_ms:
                self._latency(latency)
                for concurrency in plan.concurrency:
                    for at in range(len(running)):
                        one = running[(at + turn) % len(running)]
                        figures = self._ask(one, concurrency, plan.seconds)
                        one.found.setdefault((latency, concurrency), []).append(figures)
                for one in running:
                    one.first_tokens.setdefault(latency, []).extend(self._stream(one))
            print(f"round {turn + 1} of {plan.rounds} done", flush=True)
            for one in running:
                if ended := one.process.ended():
                    print(f"{one.service.title} is no longer running: {ended}", flush=True)

    def _latency(self, milliseconds: int) -> int:
        """Set the model's latency; return how often it has been called."""
        answer = httpx.post(f"{self._model_url}/control", json={"latency_ms": milliseconds})
        calls: int = answer.json()["calls"]
        return calls

    def _calls(self) -> int:
        return int(httpx.post(f"{self._model_url}/control", json={}).json()["calls"])

    def _ask(self, one: Running, concurrency: int, seconds: float) -> dict[str, Any]:
        """One round; it goes on with the questions where the service's last one ended."""
        service = one.service
        bodies = service.requests(self._corpus.questions)
        wanted = Round(one.port, service.path, bodies, concurrency, seconds, one.asked, answered=ANSWERED)
        calls, cpu = self._calls(), one.process.cpu_seconds()
        outcome = self._load.run(wanted)
        spent = one.process.cpu_seconds() - cpu
        one.asked += outcome.asked
        return figures_of(outcome, spent, self._calls() - calls)

    def _stream(self, one: Running) -> list[float]:
        """Milliseconds to the first token, one question at a time."""
        service, plan = one.service, self._plan
        bodies = service.requests(self._corpus.questions, stream=True)
        each = max(1, plan.streams // plan.rounds)
        wanted = Round(one.port, service.stream_path, bodies, 1, 3600.0, one.asked, requests=each, first=service.first)
        one.asked += each
        return self._load.run(wanted).firsts

    def _floor(self, running: Sequence[Running]) -> dict[str, float]:
        """What embedding, searching and asking the model take by themselves."""
        ours = next((one for one in running if one.service == OURS), None)
        if ours is None:
            return {}
        self._latency(0)
        command = [str(ours.place.python), "-m", "bench.floor", str(ours.folder), self._model_url, "2"]
        asked = "".join(json.dumps(question) + "\n" for question in self._corpus.questions)
        env = OURS.environment(ours.place, ours.folder)
        done = subprocess.run(command, env=env, input=asked, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
        found: dict[str, float] = json.loads(done.stdout)
        return found

    def _result(self, running: Sequence[Running], floor: dict[str, float]) -> dict[str, Any]:
        services = {}
        for one in running:
            rounds = [
                {"model latency, ms": latency, "concurrency": concurrency, **pooled(several)}
                for (latency, concurrency), several in one.found.items()
            ]
            firsts = [
                {"model latency, ms": latency, "p50": percentile(times, 50), "p95": percentile(times, 95)}
                for latency, times in one.first_tokens.items()
            ]
            services[one.service.name] = {
                "title": one.service.title,
                **one.figures,
                "rounds": rounds,
                "first token, ms": firsts,
            }
        corpus = {"chunks": len(self._corpus.rows), "questions": len(self._corpus.questions)}
        result: dict[str, Any] = {"corpus": corpus, "services": services}
        if floor:
            result["overhead"] = overhead(services[OURS.name], floor)
        return result


def figures_of(outcome: Outcome, cpu_seconds: float, model_calls: int) -> dict[str, Any]:
    """One round's figures. Processor time and model calls are shared out over all requests, refused ones too."""
    asked = max(1, outcome.asked)
    return {
        "times": outcome.times,
        "answers a second": len(outcome.times) / outcome.seconds,
        "CPU ms a question": cpu_seconds * 1000 / asked if outcome.times else math.nan,
        "model calls a question": model_calls / asked,
        "answered": outcome.answered / max(1, len(outcome.times)),
        "client CPU ms a question": outcome.client_cpu * 1000 / asked,
        "turned away": outcome.turned_away,
        "errors": outcome.errors,
    }


def pooled(rounds: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Several rounds as one: percentiles over all their answers, the median of their rates, the sum of what failed."""
    times = [time for one in rounds for time in one["times"]]
    percentiles = {f"p{percent}": percentile(times, percent) for percent in (50, 95, 99)}
    rates = ("answers a second", "CPU ms a question", "model calls a question", "answered", "client CPU ms a question")
    return {
        "answers": len(times),
        **percentiles,
        **{name: median(one[name] for one in rounds) for name in rates},
        **{name: sum(one[name] for one in rounds) for name in ("turned away", "errors")},
        "p50 by round": [percentile(one["times"], 50) for one in rounds],
    }


def overhead(ours: dict[str, Any], floor: dict[str, float]) -> dict[str, float]:
    """Our processor time for one question at a time, and what of it is not embedding, searching or asking the model."""
    alone = next((one for one in ours["rounds"] if one["concurrency"] == 1), ours["rounds"][0])
    total = alone["CPU ms a question"]
    spent = sum(value for stage, value in floor.items() if stage != NEW)
    return {"CPU ms a question": total, **floor, "overhead": total - spent}
