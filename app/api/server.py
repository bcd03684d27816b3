"""Put the HTTP service together: routes, error handlers, middleware, lifespan; and configure uvicorn for it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from starlette.middleware.exceptions import ExceptionMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.api import errors
from app.api.documents import MAX_UPLOAD, document_routes, ingest_routes
from app.api.documents import PATH as UPLOAD
from app.api.feedback import feedback_routes
from app.api.langserve import rag_routes
from app.api.middleware import ApiKeys, BodyLimit, Refusals
from app.api.monitoring import Metrics, health_routes, metrics_routes
from app.api.page_routes import FOLDER, PageFiles, page_routes
from app.api.query import query_routes
from app.api.schemas import ErrorBody
from app.api.search import search_routes
from app.api.tasks import task_routes
from app.bootstrap.compose import AppContainer
from app.ops.traffic import Requests, new_request_id

ERRORS: dict[int | str, dict[str, Any]] = {
    "4XX": {
        "model": ErrorBody,
        "description": "400 `VALIDATION_ERROR`, 401 `UNAUTHORIZED`, 403 `FORBIDDEN`, 404 `NOT_FOUND`, "
        "405 `METHOD_NOT_ALLOWED`, 413 `PAYLOAD_TOO_LARGE`",
    },
    "5XX": {
        "model": ErrorBody,
        "description": "500 `INTERNAL_ERROR`, 503 `RETRIEVAL_FAILED`, `SYNTHESIS_FAILED` or `OVERLOADED`",
    },
}
"""What every operation may answer; documented here, FastAPI does not add its own 422."""

MAX_HEADER_BYTES = 64 * 1024
"""Longest request line and headers together. A query of 2000 characters, percent-encoded, takes 24 kB."""


def create_app(container: AppContainer, api_keys: ApiKeys | None = None) -> FastAPI:
    """Return the ASGI application over *container*, which it closes at shutdown.

    *api_keys* are those of the settings, unless given.
    """
    settings, service = container.settings, container.service
    collection = settings.data_dir / settings.vector_store_collection
    api_keys = ApiKeys(settings.keys) if api_keys is None else api_keys

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        try:
            yield
        finally:
            container.health.draining = True
            await container.aclose()

    app = FastAPIOffline(
        redoc_url=None,
        title="Knowledge Garden",
        summary="Answers from your own documents, every citation verified.",
        version=container.version,
        lifespan=lifespan,
        redirect_slashes=False,
        responses=ERRORS,
        exception_handlers=errors.HANDLERS,
    )
    for router in (
        query_routes(service, settings.request_timeout_seconds),
        search_routes(container),
        task_routes(container.tasks, service.slot),
        rag_routes(service, settings.request_timeout_seconds),
        page_routes(container.store, api_keys, collection),
        ingest_routes(container.store, container.sink, api_keys, collection),
        document_routes(container.store, api_keys, collection),
        feedback_routes(settings.data_dir, settings.max_query_chars),
        health_routes(container.health),
        metrics_routes(Metrics(container)),
    ):
        app.include_router(router)
    app.mount("/page", PageFiles(directory=FOLDER))

    # The last one added comes first.
    app.add_middleware(BodyLimit, larger={UPLOAD: MAX_UPLOAD})
    app.add_middleware(ExceptionMiddleware, handlers={Exception: errors.on_defect})
    app.add_middleware(Refusals, health=container.health, api_keys=api_keys, hosts=settings.trusted_hosts)
    if container.spans:
        from app.ops.spans import RequestSpans

        app.add_middleware(RequestSpans, spans=container.spans)
    app.add_middleware(Requests, traffic=container.traffic)
    return app


class Http(H11Protocol):
    """uvicorn's h11 protocol, which bounds headers as httptools does not."""

    def send_400_response(self, msg: str) -> None:
        """Answer an invalid or too long request head, and close the connection."""
        headers = {"X-Request-ID": new_request_id(), "Connection": "close"}
        response = errors.error_response(400, "This is not a valid HTTP request, or its headers are too long.", headers)
        lines = [b"HTTP/1.1 400 Bad Request", *(name + b": " + value for name, value in response.raw_headers)]
        self.transport.write(b"\r\n".join(lines) + b"\r\n\r\n" + bytes(response.body))
        self.transport.close()


def server_config(app: Any) -> uvicorn.Config:
    """Return the configuration for *app*; a reverse proxy bounds the time of slow clients (docs/security.md)."""
    return uvicorn.Config(
        app,
        http=Http,
        h11_max_incomplete_event_size=MAX_HEADER_BYTES,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
    )
