"""Calls to one remote provider: time limit, retries, circuit breaker and error mapping around each."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

from app.providers.http.circuit import Circuit
from app.providers.http.error_mapping import fault_of
from app.providers.http.retry import Retry
from graph.errors import RAGError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GuardedCalls:
    """``error`` maps a vendor's exception; ``resting`` makes the error raised while the circuit is open.

    ``seconds`` limits each try, ``total`` all tries and the waits between them.
    """

    circuit: Circuit
    error: Callable[[BaseException], RAGError]
    resting: Callable[[], RAGError]
    seconds: float
    total: float
    retry: Retry = field(default_factory=Retry)

    async def acall(self, work: Callable[[], Awaitable[T]]) -> T:
        """Await ``work()``, again where a retry may succeed. Errors of ``graph.errors`` pass, all others are mapped.

        Cancelling the caller cancels the call.
        """

        async def attempt() -> T:
            try:
                async with asyncio.timeout(self.seconds):
                    return await work()
            except RAGError:
                raise
            except Exception as error:
                raise self.error(error) from error

        with self.circuit.guard(self.resting, _is_failure):
            return await self.retry.acall(attempt, deadline=time.monotonic() + self.total)


def _is_failure(error: Exception) -> bool:
    """Whether the provider itself failed: not where it rejects one request, or lacks what was asked for."""
    return isinstance(error, RAGError) and fault_of(error).kind not in ("rejected", "missing") and bool(error.__cause__)


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run *work* to its end on an event loop of its own, for code that blocks; inside a running loop too."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result()
