"""The server's end: what is in flight is finished, what comes is refused, and it takes no longer than it may.

The first SIGTERM or SIGINT starts it; readiness says so at once. The process ends as soon as nothing is in flight, or
when the time is up: then what still runs is cancelled. Its exit status is 0. A second signal ends it on the spot.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Generator
from types import FrameType

import uvicorn

from app.bootstrap.container import AppContainer

CANCEL_SECONDS = 1
"""Time that cancelled work has to tidy up, and that idle connections have to close."""

CLOSE_SECONDS = 10.0
"""Time the stores and models have to close after that; then the process ends with status 1."""

log = logging.getLogger("garden.serve")


class DrainingServer(uvicorn.Server):
    """uvicorn's server with an end of our own. SIGHUP calls *reload*, where the system has that signal."""

    def __init__(
        self, config: uvicorn.Config, container: AppContainer, *, seconds: float, reload: Callable[[], None]
    ) -> None:
        config.timeout_graceful_shutdown = CANCEL_SECONDS
        super().__init__(config)
        self._garden = container
        self._seconds = seconds
        self._reload = reload
        self._until: float | None = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain; at the second signal, end the process with the status a shell gives such an end."""
        if self._until is not None:
            os._exit(128 + sig)
        self._until = time.monotonic() + self._seconds
        self._garden.health.draining = True
        in_flight = self._garden.traffic.in_flight
        log.info("draining", extra={"in_flight": in_flight, "longest_seconds": self._seconds})
        last = threading.Timer(self._seconds + CANCEL_SECONDS + CLOSE_SECONDS, os._exit, (1,))
        last.daemon = True
        last.start()
        if not self.started:
            self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second: whether to go down now."""
        if self._until is not None and not self.should_exit:
            left = self._garden.traffic.in_flight
            late = time.monotonic() >= self._until
            if late and left:
                log.warning("drain_late", extra={"cancelled": left, "do": "raise DRAIN_TIMEOUT_SECONDS if this recurs"})
            self.should_exit = late or not left
        return await super().on_tick(counter)

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """uvicorn's handlers for the time of the service, and ours for SIGHUP."""
        hangup = getattr(signal, "SIGHUP", None)
        if hangup is None or threading.current_thread() is not threading.main_thread():
            with super().capture_signals():
                yield
            return
        before = signal.signal(hangup, lambda *_: self._reload())
        try:
            with super().capture_signals():
                yield
        finally:
            signal.signal(hangup, before)
