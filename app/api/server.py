"""Put the HTTP service together: routes, error handlers, middleware, lifespan; and uvicorn as it is to serve it."""

import asyncio
import logging
import os
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastapi_offline import FastAPIOffline
from starlette.middleware.exceptions import ExceptionMiddleware
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol

from app.api import errors
from app.api.chat_completions import chat_completion_routes
from app.api.collections import collection_routes
from app.api.documents import PATH as UPLOAD
from app.api.documents import document_routes
from app.api.feedback import feedback_routes
from app.api.langserve import rag_routes
from app.api.mcp_server import mcp_routes, mcp_server
from app.api.middleware import ApiKeys, BodyLimit, Refusals
from app.api.monitoring import Metrics, monitoring_routes
from app.api.page_routes import FOLDER, PageFiles, page_routes
from app.api.query import query_routes
from app.api.schemas import ErrorBody
from app.api.search import search_routes
from app.api.tasks import task_routes
from app.api.upload_folder import clear_upload_folders
from app.api.uploads import MAX_UPLOAD, ingest_routes
from app.bootstrap.compose import AppContainer
from app.ops.key_file import KeyFile
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
CANCEL_SECONDS = 1
"""Time for cancelled requests to clean up, and for idle connections to close."""
log = logging.getLogger("garden.serve")


def create_app(container: AppContainer) -> FastAPI:
    """Return the ASGI application over *container*, which it closes at shutdown; ``state.api_keys`` are its keys."""
    settings, service = container.settings, container.service
    collections = container.collections
    api_keys = ApiKeys(settings.keys, KeyFile(settings.data_dir))
    mcp = mcp_server(container)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await asyncio.to_thread(clear_upload_folders)
        try:
            async with mcp.session_manager.run():
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
    app.state.api_keys = api_keys
    for router in (
        query_routes(service, settings.request_timeout_seconds),
        search_routes(container),
        task_routes(container.tasks, service, settings.tasks_collection),
        rag_routes(service, settings.request_timeout_seconds),
        mcp_routes(mcp),
        chat_completion_routes(service, settings.request_timeout_seconds, drafts=container.chat is not None),
        page_routes(collections, api_keys),
        collection_routes(collections, api_keys),
        ingest_routes(collections, api_keys),
        document_routes(collections, api_keys),
        feedback_routes(collections, settings),
        monitoring_routes(container.health, Metrics(container), settings.vector_store_collection),
    ):
        app.include_router(router)
    for route in app.routes:
        if isinstance(route, Route) and route.path == "/docs":  # which cannot be declared with a head
            route.methods = {"GET", "HEAD"}
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


class DrainingServer(uvicorn.Server):
    """uvicorn's server, which drains: it finishes the requests in flight and refuses new ones, within a time limit.

    The first SIGTERM or SIGINT starts that, and readiness reports it at once. The process ends with status 0 as soon as
    nothing is in flight, or when the time is up: requests that still run are cancelled. A second signal ends it at
    once. Awaits *on_started* once it serves.
    """

    def __init__(
        self, config: uvicorn.Config, container: AppContainer, on_started: Callable[[], Awaitable[None]]
    ) -> None:
        config.timeout_graceful_shutdown = CANCEL_SECONDS
        super().__init__(config)
        self._container = container
        self._on_started = on_started
        self._until: float | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, then call *on_started*."""
        await super().startup(sockets)
        if self.started:
            await self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain; at the second signal, exit with the shell's status for that signal."""
        if self._until is not None:
            os._exit(128 + sig)
        seconds = self._container.settings.drain_timeout_seconds
        self._until = time.monotonic() + seconds
        self._container.health.draining = True
        log.info("draining", extra={"in_flight": self._container.traffic.in_flight, "longest_seconds": seconds})
        if not self.started:
            self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Decide, ten times a second, whether to stop now."""
        if self._until is not None and not self.should_exit:
            left = self._container.traffic.in_flight
            late = time.monotonic() >= self._until
            if late and left:
                log.warning("drain_late", extra={"cancelled": left, "do": "raise DRAIN_TIMEOUT_SECONDS if this recurs"})
            self.should_exit = late or not left
        return await super().on_tick(counter)
