"""Let no more questions at a chat model than it answers at once; the others wait, or are refused at once."""

import asyncio
import fcntl
import math
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from graph.errors import Overloaded

POLL_SECONDS = 0.05
"""Seconds between two tries for a place of all processes: a file's lock cannot be awaited."""


class SharedPlaces:
    """*count* places, as files in *folder*; a process that dies leaves its places free, since the system unlocks."""

    def __init__(self, folder: Path, count: int) -> None:
        self._files = [folder / f"place-{number}" for number in range(count)]

    async def acquire(self, need: float) -> BinaryIO:
        """Wait for a free place for a call of about *need* seconds; closing the file that is returned frees it."""
        while (file := self._take()) is None:  # noqa: ASYNC110 -- another process frees it, and sets no event here
            await asyncio.sleep(POLL_SECONDS)
        file.truncate(0)
        file.write(b"%f" % (time.time() + need))
        file.flush()
        return file

    def wait_seconds(self) -> float:
        """Estimate the seconds until a place is free: the least that a holder said; 0 where one is free now."""
        if (file := self._take()) is not None:
            file.close()
            return 0.0
        ends = []
        for path in self._files:
            with suppress(OSError, ValueError):
                ends.append(float(path.read_bytes()))
        return max(min(ends, default=0.0) - time.time(), POLL_SECONDS)

    def _take(self) -> BinaryIO | None:
        """Open and lock the first free file; None when all are locked."""
        for path in self._files:
            path.parent.mkdir(parents=True, exist_ok=True)
            file = path.open("ab")
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # released however the process ends
            except BlockingIOError:
                file.close()
            else:
                return file
        return None


@dataclass(slots=True, eq=False)
class ModelPlace:
    """A place at the model, for a call that should end at *until* (``time.monotonic``); *kept*: held until that ends.

    *shared* is its place among those of all processes.
    """

    until: float
    shared: BinaryIO | None
    kept: "asyncio.Future[None] | None" = None


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
            raise Overloaded(max(1, math.ceil(expected)))
        turn = object()
        self._waiting[turn] = need
        try:
            async with asyncio.timeout(deadline - need - time.monotonic()):
                place = await self._enter(need)
        except TimeoutError:
            raise Overloaded(max(1, math.ceil(self.wait_seconds()))) from None
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
        try:
            shared = await self._shared.acquire(need) if self._shared else None
        except BaseException:
            self._free.release()
            raise
        place = ModelPlace(time.monotonic() + need, shared)
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
