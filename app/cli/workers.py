"""``WORKERS=n``: so many processes that serve one port, watched by this one, which serves nothing itself.

Each worker is a whole service with models of its own; they share the port (``SO_REUSEPORT``: the system deals new
connections out) and the stores. The first one is ready before the others start, so a wrong setting is told once.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess

from graph.errors import ConfigurationError, RAGError

log = logging.getLogger("garden.serve")


class Workers:
    """So many processes that run *work*, a function of a module, which gets whether to fill an empty collection, and a
    connection to say None through when it serves, or the error that keeps it from it.
    """

    def __init__(self, count: int, work: Callable[[bool, Connection], None]) -> None:
        self._count = count
        self._work = work
        self._running: list[BaseProcess] = []
        self._signals = 0

    def run(self, *, plant: bool, told: Callable[[], None]) -> int:
        """Serve until told to stop; *told* is called when all are ready. Returns the exit status.

        A worker that ends is replaced; one that cannot start ends the service, with the error it had.
        """
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._pass_on)
        try:
            while len(self._running) < self._count and not self._signals:
                self._start(plant=plant and not self._running)
            if not self._signals:
                told()
            while not self._signals:
                wait([one.sentinel for one in self._running], timeout=1.0)
                for one in [one for one in self._running if not one.is_alive()]:
                    self._running.remove(one)
                    if not self._signals:
                        log.error("worker_ended", extra={"status": one.exitcode, "do": "see the lines before this one"})
                        self._start()
        except BaseException:
            for one in self._running:
                one.terminate()
            raise
        for one in self._running:
            one.join()
        asked = (-signal.SIGTERM, -signal.SIGINT)  # of one that did not serve yet
        return max([abs(one.exitcode or 0) for one in self._running if one.exitcode not in asked], default=0)

    def _start(self, *, plant: bool = False) -> None:
        """Start a worker and wait until it serves."""
        spawn = multiprocessing.get_context("spawn")
        here, there = spawn.Pipe()
        worker = spawn.Process(target=self._work, args=(plant, there))
        worker.start()
        there.close()
        self._running.append(worker)
        try:
            said = here.recv()
        except EOFError:
            said = None if self._signals else "A worker ended before it served."
        here.close()
        if said is not None:
            worker.join()
            raise said if isinstance(said, RAGError) else ConfigurationError(said)

    def _pass_on(self, number: int, _: object) -> None:
        """Tell every worker; all but SIGHUP end the service."""
        self._signals += number != signal.SIGHUP
        for one in self._running:
            if one.pid and one.is_alive():
                os.kill(one.pid, number)


def become_worker() -> None:
    """Leave Ctrl+C to the parent, which passes it on, and end when the parent does."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until it serves
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
