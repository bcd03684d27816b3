"""Call the async service from any thread, and from inside a running event loop."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

T = TypeVar("T")

CLOSED = "This service has been closed."

CLOSING_SECONDS = 5.0
"""Time that cancelled work has to end at closing, before it is abandoned."""


class LoopThread:
    """Run one event loop in a daemon thread, and everything of one service on it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._closing = False
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._loop.run_forever, name="garden", daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run *work* on the loop and wait for it; not to be called from that loop.

        Raises ``RuntimeError`` when the loop has been closed, or is closed before *work* is done.
        """
        try:
            return self._submit(work).result()
        except CancelledError:
            raise RuntimeError(CLOSED) from None

    async def arun(self, work: Coroutine[Any, Any, T]) -> T:
        """``run``, awaited from another loop; cancelling the caller cancels the work."""
        submitted = self._submit(work)
        try:
            return await asyncio.wrap_future(submitted)
        except asyncio.CancelledError:
            caller = asyncio.current_task()
            if caller is not None and caller.cancelling():
                raise
            raise RuntimeError(CLOSED) from None

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        with self._lock:
            if not self._closing:
                return asyncio.run_coroutine_threadsafe(work, self._loop)
        work.close()
        raise RuntimeError(CLOSED)

    def close(self, last: Callable[[], Awaitable[None]]) -> None:
        """Cancel all work, await *last*, stop loop and thread; a second call does nothing."""
        with self._lock:
            if self._closing:
                return
            self._closing = True
        try:
            asyncio.run_coroutine_threadsafe(self._finish(last), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    async def _finish(self, last: Callable[[], Awaitable[None]]) -> None:
        if tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks, timeout=CLOSING_SECONDS)
        await last()
        await self._loop.shutdown_asyncgens()  # closes idle connections
