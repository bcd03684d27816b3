"""A circuit breaker: a provider that keeps failing is not called for a while, then probed by one call.

closed ──N failures in a row──▶ open ──after a rest──▶ half open ──the probe succeeds──▶ closed, or fails ──▶ open.
(Nygard, "Release It!", 2007.) Own code: the libraries let every waiting call through when half open, and count a
cancelled call as a failure.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Literal

State = Literal["closed", "open", "half_open"]


class Circuit:
    """The breaker of one remote provider, for plain and for async code; safe among threads and tasks."""

    def __init__(
        self,
        name: str,
        *,
        failures: int = 10,
        rest: float = 1.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Open after *failures* in a row, for *rest* seconds on *clock*."""
        self.name = name
        self._limit = failures
        self._rest = rest
        self._clock = clock
        self._lock = threading.Lock()
        self.failures = 0
        """Calls that failed in a row."""
        self._opened_at: float | None = None
        self._probing = False

    @property
    def state(self) -> State:
        """For metrics and health: ``closed``, ``open``, or ``half_open`` when a probe runs or is due."""
        with self._lock:
            if self._opened_at is None:
                return "closed"
            return "half_open" if self._probing or self._rested() else "open"

    @contextmanager
    def guard(self, refuse: Callable[[], Exception], counts: Callable[[Exception], bool]) -> Iterator[None]:
        """Run one call. Raises what *refuse* makes when the circuit is open, without making the call.

        An error for which *counts* is true is a failure of the provider; any other shows that it answers. A cancelled
        call counts as neither.
        """
        with self._lock:
            probe = self._opened_at is not None
            if probe and (self._probing or not self._rested()):
                raise refuse()
            self._probing = self._probing or probe
        failed: bool | None = None
        try:
            yield
            failed = False
        except Exception as error:
            failed = counts(error)
            raise
        finally:
            self._leave(probe, failed)

    def _rested(self) -> bool:
        return self._opened_at is not None and self._clock() >= self._opened_at + self._rest

    def _leave(self, probe: bool, failed: bool | None) -> None:
        with self._lock:
            if probe:
                self._probing = False
            if failed is False:  # as good as a probe, also where the call began before the circuit opened
                self.failures, self._opened_at = 0, None
            elif failed:
                self.failures += 1
                if probe or (self._opened_at is None and self.failures >= self._limit):
                    self._opened_at = self._clock()
