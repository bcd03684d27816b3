"""A blocking iterator, read on a thread a little ahead of the one who awaits its items."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from typing import TypeVar

T = TypeVar("T")

AHEAD = 16
"""Items read before they are asked for."""


async def read_ahead(items: Iterator[T], ahead: int = AHEAD) -> AsyncGenerator[T]:
    """Yield ``items`` in order, while up to ``ahead`` more are read. An error of the iterator is raised in its place.

    Closed early, it asks for no further item, and does not wait for the one being read.
    """
    read: asyncio.Queue[list[T]] = asyncio.Queue()
    room = asyncio.Semaphore(ahead)

    async def fill() -> None:
        try:
            await room.acquire()
            while item := await asyncio.to_thread(_next, items):
                read.put_nowait(item)
                await room.acquire()
        finally:
            read.put_nowait([])

    filling = asyncio.create_task(fill())
    try:
        while item := await read.get():
            room.release()
            yield item[0]
        await filling
    finally:
        filling.cancel()


def _next(items: Iterator[T]) -> list[T]:
    """The next item in a list of its own; an empty list at the end."""
    for item in items:
        return [item]
    return []
