"""Places at one chat model that several processes share: a file for each, locked while it is held."""

import asyncio
import fcntl
import time
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

POLL_SECONDS = 0.05
"""Seconds between two tries for a place: a file's lock cannot be awaited."""


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
