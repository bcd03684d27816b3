"""Serve the Tasks API: ``GET /api/v1/search/semantic`` and ``POST /api/v1/chat``."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Query
from fastapi.responses import StreamingResponse

from app.api.errors import INTERNAL
from app.api.query import event_stream, sse
from app.ingest.tasks import Priority, Status
from app.ops.access import access_var
from app.query_service.service import QueryService
from app.tasks.models import ChatRequest, SemanticSearchResponse, text_of
from app.tasks.service import TaskService
from graph.errors import RAGError

DONE = "[DONE]"
CHAT = event_stream(
    "`data` with the reply's text as it comes, then `data: [DONE]`; a failure is one `event: error` whose data is a "
    "message, and no `[DONE]`.",
    example="data: This task fits best:\n\ndata: \ndata: 1. Fix the form [auth-101]\n\ndata: [DONE]\n\n",
)
HEADERS = {"Cache-Control": "no-cache", "Connection": "keep-alive", "X-Accel-Buffering": "no"}

log = logging.getLogger("garden.tasks")


def task_routes(tasks: TaskService, service: QueryService, collection: str) -> APIRouter:
    """Return the two routes; each request holds a slot of *service*, the chat until its stream ends.

    A key that does not name the tasks' *collection* gets 403.
    """

    async def may_see() -> None:
        if not access_var.get().sees(collection):
            raise HTTPException(403, "This API key may not see the tasks.")

    router = APIRouter(prefix="/api/v1", tags=["tasks"], dependencies=[Depends(may_see)])

    @router.get("/search/semantic")
    async def semantic_search(
        q: Annotated[
            str, Query(min_length=1, max_length=500, description="what to look for", examples=["login issues"])
        ],
        status: Annotated[Status | None, Query(description="only tasks of this status")] = None,
        priority: Annotated[Priority | None, Query(description="only tasks of this priority")] = None,
        n: Annotated[int, Query(ge=1, le=20, description="most results")] = 5,
        min_similarity: Annotated[float, Query(ge=0.0, le=1.0, description="least similarity of a result")] = 0.0,
    ) -> SemanticSearchResponse:
        """Return the tasks nearest in meaning, highest similarity first; filters run in the store."""
        text_of(q, "q")
        async with service.slot():
            results = await tasks.search(q, n, status, priority, min_similarity)
        filters: dict[str, str | None] = {"status": status, "priority": priority}
        return SemanticSearchResponse(results=results, total=len(results), query=q, filters=filters)

    @router.post("/chat", responses={200: CHAT}, response_class=StreamingResponse)
    async def chat(request: ChatRequest) -> StreamingResponse:
        """Chat about the tasks; the reply is streamed."""
        events = _events(tasks.chat(request.message, use_rag=request.use_rag is not False), service)
        await anext(events)  # a missing slot is refused before the status is sent
        return StreamingResponse(events, media_type="text/event-stream", headers=HEADERS)

    return router


async def _events(pieces: AsyncGenerator[str], service: QueryService) -> AsyncGenerator[bytes]:
    """Yield an empty piece once a slot is held, then text and ``[DONE]``, or an ``error`` event."""
    async with service.slot(), aclosing(pieces):
        yield b""
        try:
            async for piece in pieces:
                if piece.strip() == DONE:  # a reply cannot end the stream by saying so
                    yield sse(piece.partition("]")[0])
                    piece = piece[piece.index("]") :]
                if piece:
                    yield sse(piece)
            yield sse(DONE)
        except RAGError as error:
            log.warning("chat_failed", extra={"error_type": type(error).__name__})
            yield sse(error.message, "error")
        except Exception as defect:  # the status is sent already: the stream itself must say so
            log.error("defect", exc_info=defect)
            yield sse(INTERNAL, "error")
