"""Work for a client that has left is given up: nobody would read the answer, and a model may cost money."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine
from contextvars import Context, ContextVar
from typing import Any, TypeVar

import anyio
from starlette.requests import Request

T = TypeVar("T")


request_var: ContextVar[Request | None] = ContextVar("request", default=None)
"""The request this context works for, where a door has no other way to learn that its client left."""


class ClientGone(Exception):
    """The client closed the connection before its answer was ready."""


async def unless_gone(request: Request, work: Coroutine[Any, Any, T] | asyncio.Task[T]) -> T:
    """Await *work*, or cancel it and raise ``ClientGone`` when the client leaves. The request's body must be read."""
    asked = work if isinstance(work, asyncio.Task) else asyncio.create_task(work)
    left = asyncio.create_task(_left(request))
    try:
        await asyncio.wait({asked, left}, return_when=asyncio.FIRST_COMPLETED)
        if not asked.done():
            raise ClientGone
        return asked.result()
    finally:
        left.cancel()
        if not asked.done():
            asked.cancel()
            await asyncio.gather(asked, return_exceptions=True)


async def apart(events: AsyncGenerator[T], context: Context | None = None) -> AsyncGenerator[T]:
    """The same *events*, produced in a task of their own, so that a client's leaving ends them in good order.

    The task works in *context*, or in a copy of this one. A streaming response is cancelled by anyio, which cancels
    again and again while anything still tidies up; the graph needs its turn to stop what it has under way.
    """
    waiting: asyncio.Queue[T | None] = asyncio.Queue(maxsize=1)
    gone = False

    async def produce() -> None:
        try:
            async for event in events:
                if gone:  # whoever works for it ate the cancellation, as LangGraph does between two steps
                    return
                await waiting.put(event)
        finally:
            await events.aclose()
        if not gone:
            await waiting.put(None)

    producing = asyncio.create_task(produce(), context=context)
    taking: asyncio.Task[T | None] | None = None
    try:
        while True:
            taking = asyncio.create_task(waiting.get())
            await asyncio.wait({taking, producing}, return_when=asyncio.FIRST_COMPLETED)
            if not taking.done():
                producing.result()  # a defect: it ended without a last word
            event = await taking
            if event is None:
                return
            yield event
    finally:
        gone = True
        if taking is not None:
            taking.cancel()
        producing.cancel()
        with anyio.CancelScope(shield=True):
            await asyncio.wait({producing})


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
