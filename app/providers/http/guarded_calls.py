"""The way of every call to a remote part: its own time, our retries, its circuit, and one error of ours at the end."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from app.providers.http.circuit import Circuit
from app.providers.http.error_mapping import fault_of
from app.providers.http.retry import Retry
from graph.errors import RAGError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GuardedCalls:
    """Calls to one part. ``error`` makes our error of a vendor's; ``resting`` is raised while the circuit is open.

    ``seconds`` limits each try, ``total`` all tries and the waits between them.
    """

    circuit: Circuit
    error: Callable[[BaseException], RAGError]
    resting: Callable[[], RAGError]
    seconds: float
    total: float
    retry: Retry = field(default_factory=Retry)

    async def acall(self, work: Callable[[], Awaitable[T]]) -> T:
        """Await ``work()``; tried again when that may help. Errors of ``graph.errors`` pass, all others are mapped.

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

    def call(self, work: Callable[[], T]) -> T:
        """``acall`` for a call that blocks, and keeps ``seconds`` itself."""

        def attempt() -> T:
            try:
                return work()
            except RAGError:
                raise
            except Exception as error:
                raise self.error(error) from error

        with self.circuit.guard(self.resting, _is_failure):
            return self.retry.call(attempt, deadline=time.monotonic() + self.total)


def _is_failure(error: Exception) -> bool:
    """Whether the part itself is ill. Who refuses one request, or says that a collection is not there, is well."""
    return isinstance(error, RAGError) and fault_of(error).kind not in ("rejected", "missing") and bool(error.__cause__)
