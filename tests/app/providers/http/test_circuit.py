"""The circuit breaker: opens after failures in a row, probes with one call, closes by itself."""

from __future__ import annotations

import asyncio

import pytest

from app.providers.http.circuit import Circuit


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Down(Exception):
    """The part failed."""


class Refused(Exception):
    """The circuit is open."""


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def circuit(clock: Clock) -> Circuit:
    return Circuit("part", failures=3, rest=5.0, clock=clock)


def call(circuit: Circuit, error: BaseException | None = None) -> None:
    with circuit.guard(Refused, lambda found: isinstance(found, Down)):
        if error:
            raise error


def fail(circuit: Circuit, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(Down):
            call(circuit, Down())


def test_opens_after_failures_in_a_row(circuit: Circuit) -> None:
    """The third failure in a row opens it, and then no call is made."""
    fail(circuit, 2)
    assert circuit.state == "closed"
    fail(circuit)
    assert (circuit.state, circuit.failures) == ("open", 3)
    with pytest.raises(Refused):
        call(circuit)


def test_a_success_starts_the_count_anew(circuit: Circuit) -> None:
    """Failures that are not in a row never open it."""
    for _ in range(5):
        fail(circuit, 2)
        call(circuit)
    assert circuit.state == "closed"


def test_a_probe_that_succeeds_closes(circuit: Circuit, clock: Clock) -> None:
    """After its rest the next call is let through, and its success closes the circuit for all."""
    fail(circuit, 3)
    clock.now = 5.0
    assert circuit.state == "half_open"
    call(circuit)
    assert (circuit.state, circuit.failures) == ("closed", 0)


def test_a_probe_that_fails_opens_again(circuit: Circuit, clock: Clock) -> None:
    """A failed probe is one call, and a whole new rest follows."""
    fail(circuit, 3)
    clock.now = 5.0
    fail(circuit)
    clock.now = 9.9
    with pytest.raises(Refused):
        call(circuit)
    clock.now = 10.0
    call(circuit)


def test_one_probe_at_a_time(circuit: Circuit, clock: Clock) -> None:
    """While a probe is under way, every other call is refused."""
    fail(circuit, 3)
    clock.now = 5.0
    with circuit.guard(Refused, lambda _: True):
        assert circuit.state == "half_open"
        with pytest.raises(Refused):
            call(circuit)
    assert circuit.state == "closed"


def test_an_error_that_does_not_count_shows_that_the_part_answers(circuit: Circuit) -> None:
    """A request that was rejected speaks for the part, not against it."""
    fail(circuit, 2)
    with pytest.raises(KeyError):
        call(circuit, KeyError())
    assert circuit.failures == 0


async def test_a_cancelled_call_says_nothing(circuit: Circuit, clock: Clock) -> None:
    """A client that went away is no failure; a cancelled probe leaves the next one free."""
    fail(circuit, 3)
    clock.now = 5.0
    begun = asyncio.Event()

    async def probe() -> None:
        with circuit.guard(Refused, lambda _: True):
            begun.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(probe())
    await begun.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert circuit.state == "half_open"
    call(circuit)
    assert circuit.state == "closed"


def test_calls_that_were_under_way_do_not_prolong_the_rest(circuit: Circuit, clock: Clock) -> None:
    """A call that began before the circuit opened and fails afterwards does not open it anew."""

    def slow() -> None:
        with circuit.guard(Refused, lambda _: True):
            fail(circuit, 3)
            clock.now = 4.0
            raise Down

    with pytest.raises(Down):
        slow()
    clock.now = 5.0
    call(circuit)
    assert circuit.state == "closed"
