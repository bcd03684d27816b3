"""``GET /metrics``: the service's figures, those that are counted and those that are read when asked for."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator

from fastapi import APIRouter
from fastapi.responses import Response
from prometheus_client import CONTENT_TYPE_LATEST
from prometheus_client.metrics_core import Metric

from app.bootstrap.container import AppContainer
from app.ops.metrics import Metrics, circuit_states, gauge, model_tokens
from app.providers.rerank.models import reranker_label
from app.providers.stores.hybrid import ChunkStore
from graph.errors import RAGError

FRESH_SECONDS = 5.0
"""How long a look at the stores counts: anybody may ask for the figures, and as often as they like."""

LIMIT = 2.0
"""Longest time one count may take."""


def metrics_of(container: AppContainer) -> Metrics:
    """Figures of everything *garden* is made of, counted from now on."""
    settings = container.settings
    info = {
        "version": container.version,
        "store": settings.vector_store,
        "embedding": container.embedding.name,
        "chat": settings.chat,
        "reranker": reranker_label(settings),
    }
    metrics = Metrics(info=info, places=settings.places)
    container.service.observers.append(metrics.question)
    container.traffic.observers.append(metrics.request)

    def read() -> Iterator[Metric]:
        yield gauge("garden_http_requests_in_flight", "Requests under way.", container.traffic.in_flight)
        yield gauge("garden_questions_in_flight", "Questions that have a place.", container.service.in_flight)
        yield gauge("garden_tasks", "Tasks on the event loop.", _tasks())
        yield gauge("garden_draining", "1 while the service goes down.", container.health.draining)
        yield circuit_states(container.circuits)
        yield model_tokens(container.tokens_spent)

    metrics.watch(read)
    return metrics


def metrics_routes(container: AppContainer, metrics: Metrics) -> APIRouter:
    """The route, over *metrics* of *garden*."""
    router = APIRouter(tags=["health"])
    looked_at = float("-inf")
    looking = asyncio.Lock()

    async def look() -> None:
        nonlocal looked_at
        async with looking:
            if time.monotonic() - looked_at < FRESH_SECONDS:
                return
            stores = {
                container.settings.vector_store_collection: container.store,
                container.settings.tasks_collection: container.tasks.store,
            }
            counts = await asyncio.gather(*(_count(store) for store in stores.values()))
            for collection, count in zip(stores, counts, strict=True):
                metrics.stored(collection, count)
            metrics.ready(await container.health.not_ready() is None)
            looked_at = time.monotonic()

    @router.get("/metrics", response_class=Response, include_in_schema=False)
    async def figures() -> Response:
        """The service's figures for Prometheus."""
        await look()
        return Response(metrics.text(), media_type=CONTENT_TYPE_LATEST)

    return router


def _tasks() -> int:
    """How many tasks there are; 0 outside of a loop."""
    try:
        return len(asyncio.all_tasks())
    except RuntimeError:
        return 0


async def _count(store: ChunkStore) -> int | None:
    """How many chunks *store* holds; None when it does not say so in time."""
    try:
        async with asyncio.timeout(LIMIT):
            return await store.acount()
    except (TimeoutError, RAGError):
        return None
