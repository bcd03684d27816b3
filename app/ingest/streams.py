"""Asynchronous streams of items that are made while earlier ones are used."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

AHEAD = 32
"""Items that are made before they are used."""
T = TypeVar("T")


async def each(items: Iterable[T]) -> AsyncIterator[T]:
    """Yield *items*, for a loop over a stream."""
    for item in items:
        yield item


async def ahead(items: AsyncIterator[T]) -> AsyncIterator[T]:
    """Yield *items*, of which some are made while earlier ones are used: files are read while others are embedded."""
    made: asyncio.Queue[tuple[T | None, Exception | None]] = asyncio.Queue(AHEAD)

    async def make() -> None:
        try:
            async for item in items:
                await made.put((item, None))
        except Exception as error:  # noqa: BLE001 - raised below, where the items are used
            await made.put((None, error))
        else:
            await made.put((None, None))

    making = asyncio.create_task(make())
    try:
        while True:
            item, error = await made.get()
            if error is not None:
                raise error
            if item is None:
                return
            yield item
    finally:
        making.cancel()
        await asyncio.wait([making])
