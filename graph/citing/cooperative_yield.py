"""Long work on the event loop, in short stretches."""

from __future__ import annotations

import asyncio
import time

BREATH = 0.05
"""Seconds of work after which others on the loop get their turn, and a deadline can end it."""


class Pace:
    """Lets others run in between; one for each piece of work."""

    def __init__(self) -> None:
        self._since = time.monotonic()

    async def cooperative_yield(self) -> None:
        """Wait for a turn of the loop if the last one is ``BREATH`` ago."""
        if time.monotonic() - self._since > BREATH:
            await asyncio.sleep(0)
            self._since = time.monotonic()
