"""One client per event loop: a pool of connections belongs to the loop that opened them.

The command line, the library's own thread and a server each run a loop of their own over the same store.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

C = TypeVar("C")


class PerLoop(Generic[C]):
    """Makes a client for the running loop when it is first asked for, with *make*, and closes it with *close*."""

    def __init__(self, make: Callable[[], C], close: Callable[[C], Awaitable[None]]) -> None:
        self._make = make
        self._close = close
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, C] = WeakKeyDictionary()

    @property
    def client(self) -> C:
        """The client of the running loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._made:
            self._made[loop] = self._make()
        return self._made[loop]

    async def aclose(self) -> None:
        """Close the client of the running loop; the next use makes a new one."""
        client = self._made.pop(asyncio.get_running_loop(), None)
        if client is not None:
            await self._close(client)
