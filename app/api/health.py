"""Health: ``/health`` really probes every part, ``/health/live`` only says that the process runs, ``/health/ready``
whether to send it work. The shapes are door L's (contract, Door L).
"""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from app.api.errors import JSON, error_response
from app.api.health_schemas import HealthBody, LiveBody, ReadyBody
from app.ops.health import Health


def health_routes(health: Health) -> APIRouter:
    """The three routes over *health*."""
    router = APIRouter(prefix="/health", tags=["health"])

    @router.get("", responses={200: {"model": HealthBody}, 503: {"model": HealthBody}})
    async def report() -> Response:
        """Probe every part: 200 when `healthy` or `degraded`, 503 when `unhealthy`."""
        found = await health.check()
        return JSON(found, 503 if found["status"] == "unhealthy" else 200)

    @router.get("/live", responses={200: {"model": LiveBody}})
    async def live() -> Response:
        """The process runs."""
        return JSON({"status": "alive"})

    @router.get("/ready", responses={200: {"model": ReadyBody}})
    async def ready() -> Response:
        """Models and store are loaded, and the service is not going down."""
        if why := await health.not_ready():
            return error_response(503, why.reason, {"Retry-After": "1"}, **({"do": why.do} if why.do else {}))
        return JSON({"status": "ready", "notes": health.notes()})

    return router
