"""Plain calls into the async service: from any thread, and from inside a running event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """One event loop in a daemon thread of its own, on which everything of one service runs."""

    def __init__(self, name: str = "garden") -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run *work* there and wait for it. Must not be called from that loop itself.

        Raises ``RuntimeError`` when the loop has been closed.
        """
        return self._begun(work).result()

    async def arun(self, work: Coroutine[Any, Any, T]) -> T:
        """Run *work* there and await it from another loop; cancelling the caller cancels the work."""
        return await asyncio.wrap_future(self._begun(work))

    def _begun(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        if self._loop.is_closed():
            work.close()
            raise RuntimeError("This service has been closed.")
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def close(self) -> None:
        """Stop the loop and join the thread; a second call does nothing."""
        if self._loop.is_closed():
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
