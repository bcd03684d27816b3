"""Guard every call that leaves this process: one retry policy, time limits, error mapping.

Retried are connection errors, 429 and 5xx, and nothing else; the waits grow exponentially with full jitter (Brooker,
"Exponential Backoff and Jitter", AWS 2015), never less than the server's ``Retry-After``; no wait passes the deadline.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any, TypeVar

import tenacity

from app.providers.http.error_mapping import ErrorInfo, classify_error
from graph.errors import RAGError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Retry:
    """Number of attempts and waits in seconds; ``deadline`` is on ``time.monotonic``.

    ``attempts`` counts the first one. Tests set ``asleep``.
    """

    attempts: int = 3
    first_wait: float = 0.2
    longest_wait: float = 2.0
    asleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def acall(
        self, work: Callable[[], Coroutine[Any, Any, T]], *, deadline: float, unless: Callable[[], bool] = lambda: False
    ) -> T:
        """Await ``work()`` until it succeeds, cannot be retried, or no time is left; raise the last error.

        *work* is a coroutine function, for tenacity to await it. *unless* forbids a retry: an answer begins only once.
        """
        jittered = tenacity.wait_random_exponential(multiplier=self.first_wait, max=self.longest_wait)
        retrying = tenacity.AsyncRetrying(
            sleep=self.asleep,
            retry=lambda state: _info(state).transient and not unless(),
            wait=lambda state: max(jittered(state), _info(state).retry_after or 0.0),
            stop=tenacity.stop_after_attempt(self.attempts) | tenacity.stop_before_delay(deadline - time.monotonic()),
            reraise=True,
        )
        return await retrying(work)


def _info(state: tenacity.RetryCallState) -> ErrorInfo:
    error = state.outcome.exception() if state.outcome else None
    # A cancellation, or an exit of the process, is never retried.
    return classify_error(error) if isinstance(error, Exception) else ErrorInfo("unknown")


@dataclass(frozen=True, slots=True)
class GuardedCalls:
    """Maps errors by ``error``; ``seconds`` limits each attempt, ``total`` all with their waits."""

    error: Callable[[BaseException], RAGError]
    seconds: float
    total: float
    retry: Retry = field(default_factory=Retry)

    async def acall(self, work: Callable[[], Awaitable[T]], *, deadline: float = math.inf) -> T:
        """Await ``work()``, with retries. Errors of ``graph.errors`` pass, all others are mapped.

        Ends before *deadline* (``time.monotonic``) too. Cancelling the caller cancels the call.
        """
        until = min(deadline, time.monotonic() + self.total)

        async def attempt() -> T:
            try:
                async with asyncio.timeout(min(self.seconds, until - time.monotonic())):
                    return await work()
            except RAGError:
                raise
            except Exception as error:
                raise self.error(error) from error

        return await self.retry.acall(attempt, deadline=until)
