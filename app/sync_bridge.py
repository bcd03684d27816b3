"""Plain calls into the async service: from any thread, and from inside a running event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

T = TypeVar("T")

CLOSED = "This service has been closed."


class LoopThread:
    """One event loop in a daemon thread of its own, on which everything of one service runs."""

    def __init__(self, name: str = "garden") -> None:
        self._loop = asyncio.new_event_loop()
        self._closing = False
        self._guard = threading.Lock()
        self._thread = threading.Thread(target=self._loop.run_forever, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run *work* there and wait for it. Must not be called from that loop itself.

        Raises ``RuntimeError`` when the loop has been closed, or is before *work* is done.
        """
        try:
            return self._begun(work).result()
        except CancelledError:
            raise RuntimeError(CLOSED) from None

    async def arun(self, work: Coroutine[Any, Any, T]) -> T:
        """``run``, awaited from another loop; cancelling the caller cancels the work."""
        begun = self._begun(work)
        try:
            return await asyncio.wrap_future(begun)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if caller is not None and caller.cancelling():
                raise
            raise RuntimeError(CLOSED) from None

    def _begun(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._guard:
            if not self._closing:
                return asyncio.run_coroutine_threadsafe(work, self._loop)
        work.close()
        raise RuntimeError(CLOSED)

    def close(self, last: Callable[[], Awaitable[None]] | None = None) -> None:
        """Cancel all work, await *last*, stop the loop and join the thread; a second call does nothing."""
        with self._guard:
            if self._closing:
                return
            self._closing = True
        try:
            asyncio.run_coroutine_threadsafe(self._wind_up(last), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _wind_up(self, last: Callable[[], Awaitable[None]] | None) -> None:
        under_way = asyncio.all_tasks() - {asyncio.current_task()}
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        await self._loop.shutdown_asyncgens()
        if last is not None:
            await last()
