"""Serve what monitoring asks: ``/health``, ``/health/live``, ``/health/ready`` and ``/metrics``.

Each service has its own registry. Label values are our own words or route templates, never a client's text.
"""

import asyncio
import platform
from functools import partial
from typing import Any, Literal

import prometheus_client as prometheus
from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from prometheus_client.registry import Collector
from pydantic import BaseModel

from app.api.errors import error_response
from app.bootstrap.compose import AppContainer
from app.ops.access import access_var
from app.ops.health import Health
from app.ops.traffic import FinishedRequest
from app.providers.rerank.models import reranker_label
from app.providers.stores.chunk_store import ChunkStore
from graph.errors import RAGError
from graph.state import Result

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)
STAGE_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
COUNT_TIMEOUT = 2.0


class HealthBody(BaseModel):
    """The state of each part, probed for this request."""

    status: Literal["healthy", "degraded", "unhealthy"]
    ollama: Literal["connected", "loading", "unreachable"]
    vector_store: Literal["connected", "unreachable"]
    embedding_model: Literal["loaded", "not_loaded"]
    timestamp: str


UNHEALTHY: dict[int | str, dict[str, Any]] = {503: {"model": HealthBody, "description": "`unhealthy`"}}


def monitoring_routes(health: Health, metrics: "Metrics", collection: str) -> APIRouter:
    """Return the four routes. Why the *collection* is not ready is told to those who may see it."""
    router = APIRouter()

    @router.head("/health", response_model=None, include_in_schema=False)
    @router.get("/health", tags=["health"], response_model=HealthBody, responses=UNHEALTHY)
    async def report() -> Response:
        """Probe every part: 200 when `healthy` or `degraded`, 503 when `unhealthy`."""
        body = await health.check()
        return JSONResponse(body, 503 if body["status"] == "unhealthy" else 200)

    @router.head("/health/live", response_model=None, include_in_schema=False)
    @router.get("/health/live", tags=["health"])
    async def live() -> dict[Literal["status"], Literal["alive"]]:
        """Report that the process runs."""
        return {"status": "alive"}

    @router.head("/health/ready", response_model=None, include_in_schema=False)
    @router.get("/health/ready", tags=["health"], response_model=dict[Literal["status"], Literal["ready"]])
    async def ready() -> dict[str, str] | Response:
        """Report whether models and store are loaded and the service is not shutting down."""
        if why := await health.not_ready():
            if not access_var.get().sees(collection):
                return error_response(503, "The service is not ready.", {"Retry-After": "1"})
            return error_response(503, why.reason, {"Retry-After": "1"}, **({"do": why.do} if why.do else {}))
        return {"status": "ready"}

    @router.get("/metrics", tags=["metrics"], response_class=Response, include_in_schema=False)
    async def scrape() -> Response:
        """Return the metrics in Prometheus' text format."""
        return Response(await metrics.scrape(), media_type=prometheus.CONTENT_TYPE_LATEST)

    return router


class Metrics(Collector):
    """Counts requests and questions, and reads the rest of *container* at each scrape."""

    def __init__(self, container: AppContainer) -> None:
        settings = container.settings
        self.registry = registry = prometheus.CollectorRegistry()
        self._container = container
        self._read: list[Metric] = []
        counter = partial(prometheus.Counter, registry=registry)
        times = partial(prometheus.Histogram, registry=registry, buckets=SECONDS)
        self._requests = counter(
            "garden_http_requests", "Finished requests.", ["interface", "route", "method", "status"]
        )
        self._request_seconds = times("garden_http_request_seconds", "Time of a request.", ["interface"])
        self._questions = counter("garden_questions", "Questions by outcome.", ["outcome"])
        self._question_seconds = times("garden_question_seconds", "Time of a question, from its start.")
        self._stage_seconds = times("garden_stage_seconds", "Time of one stage.", ["stage"], buckets=STAGE_SECONDS)
        info = {
            "version": container.version,
            "store": settings.vector_store,
            "embedding": container.embedding.name,
            "chat": settings.chat,
            "reranker": reranker_label(settings),
            "python": platform.python_version(),
        }
        prometheus.Info("garden_build", "What runs here.", registry=registry).info(info)
        prometheus.ProcessCollector(registry=registry)
        registry.register(self)
        container.service.observers.append(self.question)
        container.traffic.observers.append(self.request)

    def request(self, finished: FinishedRequest) -> None:
        """Count a finished request."""
        self._requests.labels(finished.interface, finished.route or "none", finished.method, finished.status).inc()
        self._request_seconds.labels(finished.interface).observe(finished.ms / 1000)

    def question(self, result: Result) -> None:
        """Count a finished question."""
        self._questions.labels(result.outcome).inc()
        self._question_seconds.observe(result.processing_ms / 1000)
        for stage, milliseconds in result.timings.items():
            self._stage_seconds.labels(stage).observe(milliseconds / 1000)

    async def scrape(self) -> bytes:
        """Read what is not counted, and return all metrics in Prometheus' text format."""
        container, settings = self._container, self._container.settings
        stores: dict[str, ChunkStore] = {
            settings.vector_store_collection: container.store,
            settings.tasks_collection: container.tasks.store,
        }
        stores = {name: store for name, store in stores.items() if access_var.get().sees(name)}
        counts = dict(zip(stores, await asyncio.gather(*map(_count, stores.values())), strict=True))
        ready = await container.health.not_ready() is None
        gauges = [
            GaugeMetricFamily("garden_http_requests_in_flight", "Requests under way.", container.traffic.in_flight),
            GaugeMetricFamily("garden_questions_in_flight", "Questions that have a slot.", container.service.in_flight),
            GaugeMetricFamily("garden_slots", "Questions that may run at once.", settings.slots),
            GaugeMetricFamily("garden_draining", "1 while the service shuts down.", container.health.draining),
            GaugeMetricFamily("garden_ready", "1 when readiness is 200, else 0.", ready),
        ]
        chunks = GaugeMetricFamily("garden_chunks", "Chunks stored.", labels=["collection"])
        tokens = CounterMetricFamily("garden_model_tokens", "Tokens reported by the chat model.", labels=["kind"])
        chat = container.chat
        for family, values in ((chunks, counts), (tokens, chat.spent if chat else {})):
            for label, value in values.items():
                if value is not None:
                    family.add_metric([label], value)
        self._read = [*gauges, chunks, tokens]
        return prometheus.generate_latest(self.registry)

    def collect(self) -> list[Metric]:
        """Return what ``scrape`` read."""
        return self._read


async def _count(store: ChunkStore) -> int | None:
    """Count the chunks of *store*; None when it does not answer in time."""
    try:
        async with asyncio.timeout(COUNT_TIMEOUT):
            return await store.acount()
    except (TimeoutError, RAGError):
        return None
