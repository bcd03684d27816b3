"""``create_app``: the HTTP service put together. Middleware, routers, lifespan; no business here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect

from app.api import errors, middleware
from app.api.api_keys import Keyring
from app.api.chunks import chunk_routes
from app.api.disconnect import ClientGone
from app.api.health import health_routes
from app.api.langserve import AnswerFailed, add_rag_routes
from app.api.metrics import metrics_of, metrics_routes
from app.api.openapi import describe
from app.api.page_routes import page_routes
from app.api.query import query_routes
from app.api.search import search_routes
from app.api.tasks import task_routes
from app.api.upload import upload_routes
from app.api.upload_rules import MAX_UPLOAD
from app.api.upload_rules import PATH as UPLOAD
from app.bootstrap.compose import Garden
from app.ingest.samples import sample_folder
from app.ops.traffic import CountTraffic
from graph.errors import GardenError


def create_app(garden: Garden, keyring: Keyring | None = None) -> FastAPI:
    """The ASGI application over *garden*, which it closes when it goes down.

    *keyring* holds the keys it accepts, those of the settings unless given.
    """
    settings = garden.settings
    keyring = Keyring(settings.keys) if keyring is None else keyring

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await garden.start()
        try:
            yield
        finally:
            garden.health.draining = True
            await garden.aclose()

    app = FastAPI(
        title="Knowledge Garden",
        summary="Answers from your own documents, every citation verified.",
        version=garden.version,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.include_router(query_routes(garden.service))
    app.include_router(health_routes(garden.health))
    app.include_router(metrics_routes(garden, metrics_of(garden)))
    app.include_router(search_routes(garden))
    app.include_router(task_routes(garden.tasks, garden.service.place))
    app.include_router(upload_routes(garden.sink, keyring))
    app.include_router(chunk_routes(garden.store))
    app.include_router(page_routes(garden.store, sample_folder(), keyring))
    add_rag_routes(app, garden.service, seconds=garden.settings.request_timeout_seconds)
    describe(app)

    app.add_exception_handler(HTTPException, errors.on_http_exception)
    app.add_exception_handler(RequestValidationError, errors.on_validation_error)
    app.add_exception_handler(AnswerFailed, errors.on_answer_failed)
    app.add_exception_handler(ClientGone, errors.on_client_gone)
    app.add_exception_handler(ClientDisconnect, errors.on_client_gone)
    app.add_exception_handler(GardenError, errors.on_garden_error)
    app.add_middleware(middleware.BodyLimit, larger={UPLOAD: MAX_UPLOAD})
    app.add_middleware(middleware.Defects)
    app.add_middleware(middleware.ApiKeys, keyring=keyring)
    app.add_middleware(middleware.TrustedHosts, keyring=keyring, hosts=settings.hosts)
    app.add_middleware(middleware.Draining, health=garden.health)
    if settings.origins:
        app.add_middleware(CORSMiddleware, **cors(settings.origins))
    app.add_middleware(CountTraffic, traffic=garden.traffic)
    if garden.spans:
        from app.ops.spans import RequestSpans

        app.add_middleware(RequestSpans, spans=garden.spans)
    app.add_middleware(middleware.RequestId)
    return app


def cors(origins: Sequence[str]) -> dict[str, Any]:
    """What pages of *origins*, and of no other, may do: call every door, and read what they need of the answer."""
    return {
        "allow_origins": list(origins),
        "allow_methods": ["GET", "POST"],
        "allow_headers": ["Authorization", "Content-Type", "X-API-Key", "X-Request-ID"],
        "expose_headers": ["X-Request-ID", "Retry-After"],
    }
