"""The retry policy: what is tried again, how long it waits, and that it never passes the deadline."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import monotonic

import httpx
import pytest

from app.providers.http.retry import FIRST_WAIT, LONGEST_WAIT, retried
from graph.errors import ModelUnavailable


class Time:
    """Notes how long is slept, and sleeps not at all."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def asleep(self, seconds: float) -> None:
        self.waits.append(seconds)


def soon(seconds: float = 60.0) -> float:
    """So many seconds from now, on the clock of deadlines."""
    return monotonic() + seconds


class Part:
    """Fails with the given errors, in order, then returns how often it was called."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    def __call__(self) -> int:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return self.calls

    async def acall(self) -> int:
        return self()


def status(code: int, retry_after: str | None = None) -> httpx.HTTPStatusError:
    request = httpx.Request("POST", "http://127.0.0.1/")
    headers = {"Retry-After": retry_after} if retry_after else {}
    return httpx.HTTPStatusError("no", request=request, response=httpx.Response(code, headers=headers, request=request))


@pytest.fixture
def time() -> Time:
    return Time()


Refusal = Callable[[], Exception]


@pytest.mark.parametrize(
    "error",
    [
        lambda: status(429),
        lambda: status(500),
        lambda: status(503),
        lambda: httpx.ConnectError("x"),
        lambda: httpx.RemoteProtocolError("x"),
        ConnectionRefusedError,
    ],
)
async def test_passing_troubles_are_tried_again(time: Time, error: Refusal) -> None:
    """Connection errors, 429 and 5xx are retried."""
    part = Part(error(), error())
    assert await retried(part.acall, deadline=soon(), asleep=time.asleep) == 3


@pytest.mark.parametrize(
    "error", [lambda: status(400), lambda: status(401), lambda: status(404), lambda: httpx.ReadTimeout("x"), ValueError]
)
async def test_nothing_else_is(time: Time, error: Refusal) -> None:
    """A wrong request, key or model, a timeout and a defect are raised at once, as they are."""
    raised = error()
    part = Part(raised)
    with pytest.raises(type(raised)) as caught:
        await retried(part.acall, deadline=soon(), asleep=time.asleep)
    assert caught.value is raised
    assert part.calls == 1


async def test_our_own_error_is_read_by_its_cause(time: Time) -> None:
    """An error that was translated already is retried for what caused it."""

    def translated() -> ModelUnavailable:
        error = ModelUnavailable("The chat model cannot be reached.")
        error.__cause__ = httpx.ConnectError("x")
        return error

    assert await retried(Part(translated()).acall, deadline=soon(), asleep=time.asleep) == 2
    with pytest.raises(ModelUnavailable):
        await retried(Part(ModelUnavailable("open")).acall, deadline=soon(), asleep=time.asleep)


async def test_attempts_are_counted_in_all(time: Time) -> None:
    """``attempts`` includes the first; the last error is raised as it is."""
    part = Part(*(status(503) for _ in range(9)))
    with pytest.raises(httpx.HTTPStatusError):
        await retried(part.acall, deadline=soon(), attempts=4, asleep=time.asleep)
    assert part.calls == 4
    with pytest.raises(httpx.HTTPStatusError):
        await retried(Part(status(503)).acall, deadline=soon(), attempts=1, asleep=time.asleep)


async def test_waits_grow_and_jitter_within_bounds(time: Time) -> None:
    """The n-th wait lies between 0 and FIRST_WAIT * 2**(n-1), and never above LONGEST_WAIT."""
    with pytest.raises(httpx.HTTPStatusError):
        await retried(Part(*(status(503) for _ in range(9))).acall, deadline=soon(1e9), attempts=8, asleep=time.asleep)
    bounds = [min(LONGEST_WAIT, FIRST_WAIT * 2.0**n) for n in range(7)]
    assert len(time.waits) == 7
    assert all(0 <= wait <= bound for wait, bound in zip(time.waits, bounds, strict=True))


async def test_retry_after_is_honoured(time: Time) -> None:
    """The wait is at least what the server asks for, above our own longest wait too."""
    assert await retried(Part(status(429, "7")).acall, deadline=soon(), asleep=time.asleep) == 2
    assert time.waits == [7.0]


async def test_no_wait_passes_the_deadline(time: Time) -> None:
    """When the next try would come too late, the error is raised now, without waiting."""
    part = Part(status(429, "7"))
    with pytest.raises(httpx.HTTPStatusError):
        await retried(part.acall, deadline=soon(7.0), asleep=time.asleep)
    assert (time.waits, part.calls) == ([], 1)


async def test_unless_forbids_a_retry(time: Time) -> None:
    """An answer that has begun is not begun anew."""
    part = Part(status(503))
    with pytest.raises(httpx.HTTPStatusError):
        await retried(part.acall, deadline=soon(), unless=lambda: True, asleep=time.asleep)
    assert part.calls == 1


async def test_a_cancelled_call_is_not_retried() -> None:
    """Cancelling the caller ends the call, and no other is made."""
    calls = 0
    begun = asyncio.Event()

    async def work() -> None:
        nonlocal calls
        calls += 1
        begun.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(retried(work, deadline=1e18))
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert calls == 1
