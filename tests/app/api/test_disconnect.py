"""Events produced apart from who takes them: however that one leaves, everything ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress

import pytest

from app.api.query import in_own_task


class Deaf:
    """Events whose maker eats the first cancellation, wherever it comes, as LangGraph does between two steps."""

    def __init__(self, pause: float) -> None:
        self.pause = pause
        self.ended = False

    async def events(self) -> AsyncGenerator[int]:
        try:
            for number in range(1000):
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(self.pause)
                yield number
        finally:
            self.ended = True


@pytest.mark.parametrize("taken", [1, 2, 3])
async def test_a_maker_that_eats_the_cancellation_ends_at_its_next_event(taken: int) -> None:
    """After the consumer left, the producer ends at its next event."""
    deaf = Deaf(0.01)
    events = in_own_task(deaf.events())
    for number in range(taken):
        assert await anext(events) == number
    await asyncio.sleep(0.005)  # the maker waits
    async with asyncio.timeout(20):
        await events.aclose()
    assert deaf.ended


async def test_events_come_in_order_and_end() -> None:
    """Every event, and then no more."""
    assert [number async for number in in_own_task(Deaf(0).events())] == list(range(1000))
