"""Serve ``/health``, ``/health/live`` and ``/health/ready`` (contract, RAG library)."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel

from app.api.errors import error_response
from app.ops.health import Health


class HealthBody(BaseModel):
    """The state of each part, probed for this request."""

    status: Literal["healthy", "degraded", "unhealthy"]
    ollama: Literal["connected", "unreachable"]
    vector_store: Literal["connected", "unreachable"]
    embedding_model: Literal["loaded", "not_loaded"]
    timestamp: str


class LiveBody(BaseModel):
    """The process runs."""

    status: Literal["alive"] = "alive"


class ReadyBody(BaseModel):
    """The service takes requests; ``notes`` name what works with less than it could."""

    status: Literal["ready"] = "ready"
    notes: list[str]


UNHEALTHY: dict[int | str, dict[str, Any]] = {503: {"model": HealthBody, "description": "`unhealthy`"}}


def health_routes(health: Health) -> APIRouter:
    """Return the three routes over *health*."""
    router = APIRouter(prefix="/health", tags=["health"])

    @router.get("", response_model=HealthBody, responses=UNHEALTHY)
    async def report() -> Response:
        """Probe every part: 200 when `healthy` or `degraded`, 503 when `unhealthy`."""
        found = await health.check()
        return JSONResponse(found, 503 if found["status"] == "unhealthy" else 200)

    @router.get("/live")
    async def live() -> LiveBody:
        """Report that the process runs."""
        return LiveBody()

    @router.get("/ready", response_model=ReadyBody)
    async def ready() -> ReadyBody | Response:
        """Report whether models and store are loaded and the service is not shutting down."""
        if why := await health.not_ready():
            return error_response(503, why.reason, {"Retry-After": "1"}, **({"do": why.do} if why.do else {}))
        return ReadyBody(notes=health.notes())

    return router
