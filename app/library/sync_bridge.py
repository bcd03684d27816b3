"""Plain calls into the async service: from any thread, and from inside a running event loop."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

T = TypeVar("T")

CLOSED = "This service has been closed."

WIND_UP_SECONDS = 5.0
"""How long work may take to end at a closing, cancelled every tenth of a second."""


class LoopThread:
    """One event loop in a daemon thread of its own, on which everything of one service runs."""

    def __init__(self, name: str = "garden") -> None:
        self._loop = asyncio.new_event_loop()
        self._closing = False
        self._closed = threading.Event()
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
        """Cancel all work, await *last*, stop the loop and join the thread; a second call waits for the first.

        Raises ``RuntimeError`` on that loop itself, which cannot wait for its own end.
        """
        if threading.current_thread() is self._thread:
            raise RuntimeError("A service cannot be closed by its own work.")
        with self._guard:
            first, self._closing = not self._closing, True
        if not first:
            self._closed.wait()
            return
        try:
            asyncio.run_coroutine_threadsafe(self._wind_up(last), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()
            self._closed.set()

    async def _wind_up(self, last: Callable[[], Awaitable[None]] | None) -> None:
        until = time.monotonic() + WIND_UP_SECONDS
        while (under_way := asyncio.all_tasks() - {asyncio.current_task()}) and time.monotonic() < until:
            for task in under_way:  # again, for one may be eaten, and what is cancelled may begin something
                task.cancel()
            await asyncio.wait(under_way, timeout=0.1)
        await self._loop.shutdown_asyncgens()
        if last is not None:
            await last()
