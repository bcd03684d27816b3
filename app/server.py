"""``create_app``: the HTTP service put together. Middleware, routers, lifespan; no business here."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

from app import errors_http, middleware
from app.bootstrap import Garden
from app.chunks_api import chunk_routes
from app.client_gone import ClientGone
from app.health_api import health_routes
from app.ingest_api import ingest_routes
from app.langserve_routes import AnswerFailed, add_rag_routes
from app.page_api import page_routes
from app.plant import samples
from app.query_api import query_routes
from app.search_api import search_routes
from app.tasks_api import task_routes
from app.upload_api import upload_routes
from app.upload_rules import MAX_UPLOAD
from app.upload_rules import PATH as UPLOAD
from graph.errors import GardenError


def create_app(garden: Garden) -> FastAPI:
    """The ASGI application over *garden*, which it closes when it goes down."""

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
    app.include_router(search_routes(garden))
    app.include_router(task_routes(garden.tasks))
    writing = asyncio.Lock()
    app.include_router(ingest_routes(garden.sink, writing))
    app.include_router(upload_routes(garden.sink, garden.settings.keys, writing))
    app.include_router(chunk_routes(garden.store))
    app.include_router(page_routes(garden.store, samples(), garden.settings.keys))
    add_rag_routes(app, garden.service)

    app.add_exception_handler(HTTPException, errors_http.on_http_exception)
    app.add_exception_handler(RequestValidationError, errors_http.on_validation_error)
    app.add_exception_handler(AnswerFailed, errors_http.on_answer_failed)
    app.add_exception_handler(ClientGone, errors_http.on_client_gone)
    app.add_exception_handler(GardenError, errors_http.on_garden_error)
    app.add_middleware(middleware.BodyLimit, larger={UPLOAD: MAX_UPLOAD})
    app.add_middleware(middleware.Defects)
    app.add_middleware(middleware.ApiKeys, keys=garden.settings.keys)
    app.add_middleware(middleware.RequestId)
    return app
