"""Guard every call that leaves this process: one retry policy, time limits, error mapping.

Retried are connection errors, 429 and 5xx, and nothing else; the waits grow exponentially with full jitter (Brooker,
"Exponential Backoff and Jitter", AWS 2015), never less than the server's ``Retry-After``; no wait passes the deadline.
"""

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, TypeVar

import tenacity

from app.providers.http.error_mapping import ErrorInfo, classify_error
from graph.errors import RAGError

T = TypeVar("T")


ATTEMPTS = 3
"""Of a call in all, as the library's document asks of a store."""
FIRST_WAIT, LONGEST_WAIT = 0.2, 2.0
"""Seconds: the most before the second attempt, which doubles with each further one, up to the other."""


async def retried(
    work: Callable[[], Coroutine[Any, Any, T]],
    *,
    deadline: float,
    attempts: int = ATTEMPTS,
    unless: Callable[[], bool] = lambda: False,
    asleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> T:
    """Await ``work()`` until it succeeds, cannot be retried, or no time is left; raise the last error.

    *work* is a coroutine function, for tenacity to await it. *deadline* is on ``time.monotonic``, *attempts* counts the
    first one. *unless* forbids a retry: an answer begins only once. Tests set *asleep*.
    """
    jittered = tenacity.wait_random_exponential(multiplier=FIRST_WAIT, max=LONGEST_WAIT)
    retrying = tenacity.AsyncRetrying(
        sleep=asleep,
        retry=lambda state: _info(state).transient and not unless(),
        wait=lambda state: max(jittered(state), _info(state).retry_after or 0.0),
        stop=tenacity.stop_after_attempt(attempts) | tenacity.stop_before_delay(deadline - time.monotonic()),
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

        return await retried(attempt, deadline=until)
