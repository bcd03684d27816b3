"""Door S: ``GET /api/v1/search/semantic`` and ``POST /api/v1/chat`` (server-sent events)."""

from __future__ import annotations

import logging
import re
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager, aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import StreamingResponse

from app.api.query_schemas import ErrorBody
from app.ingest.tasks import Priority, Status
from app.tasks.models import ChatRequest, SemanticSearchResponse, text_of
from app.tasks.service import TaskService
from graph.errors import RAGError

DONE = "[DONE]"
ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorBody, "description": "`VALIDATION_ERROR`: an argument is out of its bounds"},
    401: {"model": ErrorBody, "description": "`UNAUTHORIZED`: a key is needed"},
}
UNAVAILABLE: dict[int | str, dict[str, Any]] = {
    503: {"model": ErrorBody, "description": "`RETRIEVAL_FAILED`: the tasks cannot be searched now"}
}
CHAT_DOC: dict[str, Any] = {
    "description": "Server-sent events: `data:` with the reply's text as it comes, and `data: [DONE]`; or, when "
    "something fails on the way, `event: error` with a message that may be shown, and then no `[DONE]`.",
    "content": {"text/event-stream": {"schema": {"type": "string"}}},
}

Place = Callable[[], AbstractAsyncContextManager[None]]
"""Takes one of the places of the service for as long as it is held. Raises ``Overloaded``."""

log = logging.getLogger("garden.tasks")


def task_routes(tasks: TaskService, place: Place) -> APIRouter:
    """The two routes over *tasks*; each request holds a *place*, the chat until its stream ends."""
    router = APIRouter(prefix="/api/v1", tags=["tasks"])

    @router.get("/search/semantic", responses={**ERRORS, **UNAVAILABLE})
    async def semantic_search(
        q: Annotated[
            str, Query(min_length=1, max_length=500, description="what to look for", examples=["login issues"])
        ],
        status: Annotated[Status | None, Query(description="only tasks of this status")] = None,
        priority: Annotated[Priority | None, Query(description="only tasks of this priority")] = None,
        n: Annotated[int, Query(ge=1, le=20, description="most results")] = 5,
        min_similarity: Annotated[float, Query(ge=0.0, le=1.0, description="least similarity of a result")] = 0.0,
    ) -> SemanticSearchResponse:
        """The tasks nearest in meaning, highest similarity first; filters run before the nearest are chosen."""
        text_of(q, "q")
        async with place():
            results = await tasks.search(q, n, status, priority, min_similarity)
        filters = {"status": status, "priority": priority}
        return SemanticSearchResponse(results=results, total=len(results), query=q, filters=dict(filters))

    @router.post("/chat", responses={**ERRORS, 200: CHAT_DOC}, response_class=StreamingResponse)
    async def chat(request: ChatRequest) -> StreamingResponse:
        """Chat about the tasks; the reply is streamed."""
        events = _events(tasks.chat(request.message, use_rag=request.use_rag is not False), place)
        await anext(events)  # the place is taken, or refused, before the status is sent
        headers = {"Cache-Control": "no-cache", "Connection": "keep-alive", "X-Accel-Buffering": "no"}
        return StreamingResponse(events, media_type="text/event-stream", headers=headers)

    return router


async def _events(pieces: AsyncGenerator[str], place: Place) -> AsyncGenerator[bytes]:
    """Nothing, once a place is held; then the reply as events: text, then ``[DONE]``, or an ``error`` event instead."""
    async with place(), aclosing(pieces):
        yield b""
        try:
            async for piece in pieces:
                yield _data(piece)
        except RAGError as error:
            log.warning("chat_failed", extra={"error_type": type(error).__name__})
            yield b"event: error\n" + _data(error.message)
            return
        except Exception as defect:  # the status is sent already: the stream itself must say so
            log.error("defect", exc_info=defect)
            yield b"event: error\n" + _data("Something went wrong on our side. The request id names it in the log.")
            return
        yield _data(DONE, last=True)


def _data(text: str, *, last: bool = False) -> bytes:
    """One event of *text*, each of its lines a ``data:`` of its own; nothing for no text."""
    if not text:
        return b""
    if text.strip() == DONE and not last:  # a reply cannot end the stream by saying so
        return _data(text[: text.index("]")]) + _data(text[text.index("]") :])
    lines = re.split(r"\r\n|\r|\n", text)
    return "".join(f"data: {line}\n" for line in lines).encode("utf-8", "replace") + b"\n"
