"""Stop the work for a client that has left: nobody reads the answer, and a model may cost money."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable
from contextlib import aclosing
from contextvars import Context
from typing import TypeVar

import anyio
from starlette.requests import Request

from app.api.errors import ClientGone

T = TypeVar("T")


async def unless_gone(request: Request, work: Awaitable[T]) -> T:
    """Await *work*, or cancel it and raise ``ClientGone`` when the client leaves. The request's body must be read."""
    answering = asyncio.ensure_future(work)
    leaving = asyncio.create_task(_disconnected(request))
    try:
        await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not answering.done():
            raise ClientGone
        return answering.result()
    finally:
        leaving.cancel()
        if answering.cancel():
            await asyncio.gather(answering, return_exceptions=True)


async def in_own_task(events: AsyncGenerator[T], context: Context | None = None) -> AsyncGenerator[T]:
    """Yield *events*, produced in a task of their own, in *context* or a copy of the current one.

    Starlette cancels a streaming response again and again while it cleans up; the task is cancelled once, so that the
    graph can stop what it has under way.
    """
    send, receive = anyio.create_memory_object_stream[T]()

    async def produce() -> None:
        async with send, aclosing(events):
            async for event in events:
                await send.send(event)  # fails once nobody receives, should the producer have ignored its cancellation

    producing = asyncio.create_task(produce(), context=context)
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
