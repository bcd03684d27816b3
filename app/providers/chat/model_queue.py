"""Let no more questions at a chat model than it answers at once; the others wait, or are refused at once."""

import asyncio
import math
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import BinaryIO

from app.providers.chat.shared_places import SharedPlaces
from graph.errors import Overloaded

MIN_RETRY = 1
"""Least seconds of a ``Retry-After``."""


class ModelPlace:
    """One place at the model; ``keep`` holds it beyond the call, until the model is free."""

    def __init__(self, until: float) -> None:
        """*until*, on ``time.monotonic``, is when the call is expected to end."""
        self.until = until
        self.kept: asyncio.Future[None] | None = None
        self.shared: BinaryIO | None = None

    def keep(self, work: "asyncio.Future[None]") -> None:
        """Hold the place until *work* is done."""
        self.kept = work


class ModelQueue:
    """Admits *places* calls at a time, first come, first served; of several processes in no order."""

    def __init__(self, places: int, shared: SharedPlaces | None = None) -> None:
        """*shared* are the places of all processes that ask the same model."""
        self._shared = shared
        self._free = asyncio.Semaphore(places)
        self._places = places
        self._held: set[ModelPlace] = set()
        self._waiting: dict[object, float] = {}

    @asynccontextmanager
    async def place(self, need: float, deadline: float) -> AsyncGenerator[ModelPlace]:
        """Hold a place for a call of about *need* seconds that must end before *deadline* (``time.monotonic``).

        Raises ``Overloaded``, with the seconds after which a place should be free, at once where it cannot end in time,
        and when no place became free in time.
        """
        expected = self.wait_seconds()
        if expected and time.monotonic() + expected + need > deadline:
            raise Overloaded(self._retry_after(expected))
        turn = object()
        self._waiting[turn] = need
        try:
            async with asyncio.timeout(deadline - need - time.monotonic()):
                place = await self._enter(need)
        except TimeoutError:
            raise Overloaded(self._retry_after(self.wait_seconds())) from None
        finally:
            del self._waiting[turn]
        try:
            yield place
        finally:
            if place.kept is None:
                self._leave(place)
            else:
                place.kept.add_done_callback(lambda _: self._leave(place))

    async def _enter(self, need: float) -> ModelPlace:
        """Wait for a place in this process, then for one of all processes."""
        await self._free.acquire()
        place = ModelPlace(time.monotonic() + need)
        try:
            if self._shared:
                place.shared = await self._shared.acquire(need)
        except BaseException:
            self._free.release()
            raise
        place.until = time.monotonic() + need
        self._held.add(place)
        return place

    def wait_seconds(self) -> float:
        """Estimate the seconds until a call that came now would begin."""
        if not self._free.locked():
            return self._shared.wait_seconds() if self._shared else 0.0
        now = time.monotonic()
        held = sum(max(place.until - now, 0.5) for place in self._held)
        return (held + sum(self._waiting.values())) / self._places

    def _leave(self, place: ModelPlace) -> None:
        self._held.discard(place)
        if place.shared:
            place.shared.close()
        self._free.release()

    @staticmethod
    def _retry_after(seconds: float) -> int:
        return max(MIN_RETRY, math.ceil(seconds))
