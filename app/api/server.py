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
from app.api.api_keys import ApiKeys
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
from app.bootstrap.compose import AppContainer
from app.ingest.samples import sample_folder
from app.ops.traffic import CountTraffic
from graph.errors import RAGError


def create_app(container: AppContainer, api_keys: ApiKeys | None = None) -> FastAPI:
    """The ASGI application over *garden*, which it closes when it goes down.

    *keyring* holds the keys it accepts, those of the settings unless given.
    """
    settings = container.settings
    api_keys = ApiKeys(settings.keys) if api_keys is None else api_keys

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await container.start()
        try:
            yield
        finally:
            container.health.draining = True
            await container.aclose()

    app = FastAPI(
        title="Knowledge Garden",
        summary="Answers from your own documents, every citation verified.",
        version=container.version,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.include_router(query_routes(container.service))
    app.include_router(health_routes(container.health))
    app.include_router(metrics_routes(container, metrics_of(container)))
    app.include_router(search_routes(container))
    app.include_router(task_routes(container.tasks, container.service.place))
    app.include_router(upload_routes(container.sink, api_keys))
    app.include_router(chunk_routes(container.store))
    app.include_router(page_routes(container.store, sample_folder(), api_keys))
    add_rag_routes(app, container.service, seconds=container.settings.request_timeout_seconds)
    describe(app)

    app.add_exception_handler(HTTPException, errors.on_http_exception)
    app.add_exception_handler(RequestValidationError, errors.on_validation_error)
    app.add_exception_handler(AnswerFailed, errors.on_answer_failed)
    app.add_exception_handler(ClientGone, errors.on_client_gone)
    app.add_exception_handler(ClientDisconnect, errors.on_client_gone)
    app.add_exception_handler(RAGError, errors.on_rag_error)
    app.add_middleware(middleware.BodyLimit, larger={UPLOAD: MAX_UPLOAD})
    app.add_middleware(middleware.Defects)
    app.add_middleware(middleware.RequireApiKey, api_keys=api_keys)
    app.add_middleware(middleware.TrustedHosts, api_keys=api_keys, hosts=settings.hosts)
    app.add_middleware(middleware.Draining, health=container.health)
    if settings.origins:
        app.add_middleware(CORSMiddleware, **cors(settings.origins))
    app.add_middleware(CountTraffic, traffic=container.traffic)
    if container.spans:
        from app.ops.spans import RequestSpans

        app.add_middleware(RequestSpans, spans=container.spans)
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
