"""Graceful shutdown: finish the requests in flight, refuse new ones, within a time limit.

The first SIGTERM or SIGINT starts it, and readiness reports it at once. The process ends with status 0 as soon as
nothing is in flight, or when the time is up: requests that still run are cancelled. A second signal ends it at once.
"""

import logging
import os
import socket
import time
from collections.abc import Awaitable, Callable
from types import FrameType

import uvicorn

from app.bootstrap.compose import AppContainer

CANCEL_SECONDS = 1
"""Time for cancelled requests to clean up, and for idle connections to close."""
log = logging.getLogger("garden.serve")


class DrainingServer(uvicorn.Server):
    """uvicorn's server, which keeps answering while it drains. Awaits *on_started* once it serves."""

    def __init__(
        self, config: uvicorn.Config, container: AppContainer, on_started: Callable[[], Awaitable[None]]
    ) -> None:
        config.timeout_graceful_shutdown = CANCEL_SECONDS
        super().__init__(config)
        self._container = container
        self._on_started = on_started
        self._until: float | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, then call *on_started*."""
        await super().startup(sockets)
        if self.started:
            await self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain; at the second signal, exit with the shell's status for that signal."""
        if self._until is not None:
            os._exit(128 + sig)
        seconds = self._container.settings.drain_timeout_seconds
        self._until = time.monotonic() + seconds
        self._container.health.draining = True
        log.info("draining", extra={"in_flight": self._container.traffic.in_flight, "longest_seconds": seconds})
        if not self.started:
            self.should_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Decide, ten times a second, whether to stop now."""
        if self._until is not None and not self.should_exit:
            left = self._container.traffic.in_flight
            late = time.monotonic() >= self._until
            if late and left:
                log.warning("drain_late", extra={"cancelled": left, "do": "raise DRAIN_TIMEOUT_SECONDS if this recurs"})
            self.should_exit = late or not left
        return await super().on_tick(counter)
