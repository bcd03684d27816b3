"""Turns for questions that come together, so that the first of them does not wait for the last.

What a question needs of the processor it takes from the event loop in one piece, and asyncio goes through all that is
ready before it looks at a socket again. So thirty-two that arrive together would all be searched before the first of
them was sent to the model; they would come back together, and go on in step. Here one of them starts in an iteration of
the event loop, and while others still wait the number doubles from iteration to iteration (slow start, RFC 5681, 3.1):
where more comes than can be done, doing the same for many in a row takes less, for code and data stay in the
processor's caches.
"""

from __future__ import annotations

import asyncio
from collections import deque
from weakref import WeakKeyDictionary

MOST_A_ROUND = 32
"""The most that one iteration lets in of those who wait."""


class Admission:
    """Those who wait go on in the order in which they came; each event loop has turns of its own."""

    def __init__(self) -> None:
        self._queues: WeakKeyDictionary[asyncio.AbstractEventLoop, _Queue] = WeakKeyDictionary()

    async def turn(self) -> None:
        """Wait for a turn; mostly there is nothing to wait for."""
        loop = asyncio.get_running_loop()
        queue = self._queues.get(loop)
        if queue is None:
            queue = self._queues[loop] = _Queue()
        if not queue.take(loop):
            await queue.join(loop)


class _Queue:
    """Who waits in one loop."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._taken, self._allowed = 0, 1

    def take(self, loop: asyncio.AbstractEventLoop) -> bool:
        """Take a turn of this round if there is one left."""
        if self._taken >= self._allowed:
            return False
        if not self._taken:
            loop.call_soon(self._next_round, loop)
        self._taken += 1
        return True

    def join(self, loop: asyncio.AbstractEventLoop) -> asyncio.Future[None]:
        """A place at the end; who gives it up is passed over."""
        mine: asyncio.Future[None] = loop.create_future()
        self._waiting.append(mine)
        return mine

    def _next_round(self, loop: asyncio.AbstractEventLoop) -> None:
        self._taken, self._allowed = 0, min(2 * self._allowed, MOST_A_ROUND) if self._waiting else 1
        while self._waiting and self._taken < self._allowed:
            first = self._waiting.popleft()
            if not first.done():
                self._taken += 1
                first.set_result(None)
        if self._taken:
            loop.call_soon(self._next_round, loop)
        else:
            self._allowed = 1
