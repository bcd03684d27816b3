"""Serve the Query API, and conversations: questions that are understood from those before them.

``POST /query`` keeps nothing. A client's disconnect cancels the work.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from typing import Annotated, Any, TypeVar

import anyio
import orjson
from fastapi import APIRouter, Path, Request
from fastapi.responses import JSONResponse, Response
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import ClientDisconnect

from app.api.errors import AnswerFailed
from app.api.schemas import QueryRequest, QueryResponse, WireModel, answer_body, wire_event
from app.query_service.service import QueryService
from graph.state import Event, Result

T = TypeVar("T")


def event_stream(description: str, **example: str) -> dict[str, Any]:
    """Describe a response of server-sent events."""
    content = {"text/event-stream": {"schema": {"type": "string"}, **example}}
    return {"description": f"Server-sent events: {description}", "content": content}


STREAM = event_stream(
    "`retrieval`, any number of `token` and `verified`, then one `answer` or one `error`.",
    example='event: retrieval\ndata: {"chunks": []}\n\nevent: token\ndata: {"text": "Knowledge"}\n\n'
    'event: answer\ndata: {"answer": "…", "citedDocuments": [], "metadata": {}}\n\n',
)

CONVERSATION = "/api/v1/conversations/{conversationId}"
ConversationId = Annotated[
    str,
    Path(
        alias="conversationId",
        pattern="^[A-Za-z0-9_-]{16,64}$",
        description="made up by the client, at random: who knows it can continue the conversation",
        examples=["5f0c6f3e9a4b4d0e8a1d2c3b"],
    ),
]
CHAT_STREAM = {
    **STREAM,
    "description": f"As `/query/stream`, after `rewritten` for a follow-up. {STREAM['description']}",
}


class DeletedConversation(WireModel):
    """Nothing is stored under this id any more."""

    id: str


def query_routes(service: QueryService, send_timeout: float) -> APIRouter:
    """Return the routes; a client that reads no event for *send_timeout* seconds is disconnected."""
    router = APIRouter(tags=["query"])

    @router.post("/query", response_model=QueryResponse)
    async def query(request: Request, question: QueryRequest) -> Response:
        """Answer a question from the documents, with verified citations."""
        result = await answered(request, service.ask(question.model_dump()))
        return JSONResponse(answer_body(result, evidence=bool(question.includeEvidence)))

    @router.post("/query/stream", responses={200: STREAM})
    async def query_stream(request: Request, question: QueryRequest) -> Response:
        """Stream the same answer as server-sent events."""
        return await event_response(_events(request, service.stream(question.model_dump()), question), send_timeout)

    @router.post(CONVERSATION + "/query", tags=["conversations"], responses={200: CHAT_STREAM})
    async def follow_up(request: Request, conversation: ConversationId, question: QueryRequest) -> Response:
        """Stream the answer to a question that may leave out what was asked before in the same conversation."""
        events = service.stream(question.model_dump(), conversation)
        return await event_response(_events(request, events, question), send_timeout)

    @router.delete(CONVERSATION, tags=["conversations"])
    async def forget(conversation: ConversationId) -> DeletedConversation:
        """Delete what was asked in a conversation; one that does not exist is no error."""
        await service.forget(conversation)
        return DeletedConversation(id=conversation)

    return router


async def answered(request: Request, work: Awaitable[Result]) -> Result:
    """Await the end of a question, as ``unless_gone`` does. Raises ``AnswerFailed``."""
    result = await unless_gone(request, work)
    if result.failure:
        raise AnswerFailed(result.failure)
    return result


async def event_response(events: AsyncGenerator[bytes], send_timeout: float) -> EventSourceResponse:
    """Stream *events*, whose first is an empty piece: a failure before it is raised, and has its HTTP status."""
    await anext(events)
    return EventSourceResponse(events, sep="\n", send_timeout=send_timeout)


async def _events(request: Request, stream: AsyncGenerator[Event], question: QueryRequest) -> AsyncGenerator[bytes]:
    """Yield an empty piece once retrieval is over, then the stream; ``retrieval`` comes first even of no chunks."""
    evidence = bool(question.includeEvidence)
    async with aclosing(in_own_task(stream)) as events:
        first = [await unless_gone(request, anext(events))]
        while first[-1].kind == "rewritten":
            first.append(await unless_gone(request, anext(events)))
        if (result := first[-1].result) and result.failure:
            raise AnswerFailed(result.failure)
        yield b""
        for event in first:
            if event.result:
                yield json_event("retrieval", {"chunks": []})
            yield json_event(*wire_event(event, evidence=evidence))
        async for event in events:
            yield json_event(*wire_event(event, evidence=evidence))


def sse(data: str, event: str | None = None) -> bytes:
    """Return one server-sent event; each line of *data* is a ``data:`` of its own."""
    return ServerSentEvent(data.encode("utf-8", "replace").decode(), event=event, sep="\n").encode()


def json_event(event: str, data: dict[str, Any]) -> bytes:
    """Return one server-sent event with JSON data."""
    return sse(orjson.dumps(data).decode(), event)


async def unless_gone(request: Request, work: Awaitable[T]) -> T:
    """Await *work*; on a disconnect cancel it and raise ``ClientDisconnect``. Read the body first."""
    answering = asyncio.ensure_future(work)
    leaving = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            raise ClientDisconnect
        return answering.result()
    finally:
        leaving.cancel()
        if answering.cancel():
            await asyncio.gather(answering, return_exceptions=True)


async def in_own_task(events: AsyncGenerator[T]) -> AsyncGenerator[T]:
    """Yield *events*, produced in a task of their own.

    Starlette cancels a streaming response repeatedly; the task is cancelled once, so that the graph can clean up.
    """
    send, receive = anyio.create_memory_object_stream[T]()

    async def produce() -> None:
        async with send, aclosing(events):
            async for event in events:
                await send.send(event)  # fails without a receiver, should the producer have ignored its cancellation

    producing = asyncio.create_task(produce())
    try:
        async with receive:
            async for event in receive:
                yield event
        await producing
    finally:
        producing.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.gather(producing, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
