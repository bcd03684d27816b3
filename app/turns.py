"""Turns for questions that come together, so that the first of them does not wait for the last.

What a question needs of the processor it takes from the event loop in one piece, and asyncio goes through all that is
ready before it looks at a socket again. So thirty-two that arrive together would all be searched before the first of
them was sent to the model; they would come back together, and go on in step. In turns one begins in a round of the
loop. While others wait it is twice as many from round to round (as TCP's slow start has it, RFC 5681, 3.1), for where
more comes than can be done, doing the same for many in a row takes less: code and data stay in the processor's caches.
"""

from __future__ import annotations

import asyncio
from collections import deque
from weakref import WeakKeyDictionary

MOST = 32
"""At most so many in a round."""


class Turns:
    """First come, first served; each event loop has turns of its own."""

    def __init__(self) -> None:
        self._lines: WeakKeyDictionary[asyncio.AbstractEventLoop, _Line] = WeakKeyDictionary()

    async def turn(self) -> None:
        """Wait for a turn; mostly there is nothing to wait for."""
        loop = asyncio.get_running_loop()
        line = self._lines.get(loop)
        if line is None:
            line = self._lines[loop] = _Line()
        if not line.take(loop):
            await line.join(loop)


class _Line:
    """Who waits in one loop."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._taken, self._most = 0, 1

    def take(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Take a turn of this round if there is one left."""
        if self._taken >= self._most:
            return False
        if not self._taken:
            loop.call_soon(self._next_round, loop)
        self._taken += 1
        return True

    def join(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[None]:
        """A place at the line's end; who gives it up is passed over."""
        mine: asyncio.Future[None] = loop.create_future()
        self._waiting.append(mine)
        return mine

    def _next_round(self, loop: asyncio.AbstractEventLoop) -> None:
        self._taken, self._most = 0, min(2 * self._most, MOST) if self._waiting else 1
        while self._waiting and self._taken < self._most:
            first = self._waiting.popleft()
            if not first.done():
                self._taken += 1
                first.set_result(None)
        if self._taken:
            loop.call_soon(self._next_round, loop)
        else:
            self._most = 1
