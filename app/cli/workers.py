"""``WORKERS=n``: worker processes that share one port, supervised by this process.

Each has its own models; the system distributes connections (``SO_REUSEPORT``). The others start when the first is
ready, so a wrong setting is reported once.
"""

import logging
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from graph.errors import ConfigurationError, RAGError

SPAWN = multiprocessing.get_context("spawn")
log = logging.getLogger("garden.serve")


class Workers:
    """Run *work* in *count* processes, and replace those that end.

    *work* gets whether to ingest the samples, and a connection to report through: text once it serves, or an error.
    """

    def __init__(self, count: int, work: Callable[[bool, Connection], None]) -> None:
        self._count = count
        self._work = work
        self._running: list[SpawnProcess] = []
        self._stopping = False

    def run(self, *, ingest_samples: bool, on_ready: Callable[[str], None]) -> None:
        """Serve until a signal ends it. *on_ready* gets the first worker's report.

        Raises the error of a worker that cannot start.
        """
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._forward)
        try:
            report = self._start(ingest_samples)
            self._fill()
            if not self._stopping:
                on_ready(report)
            while not self._stopping:
                wait([worker.sentinel for worker in self._running], timeout=1.0)
                for ended in [worker for worker in self._running if not worker.is_alive() and not self._stopping]:
                    self._running.remove(ended)
                    do = "see the log lines before this one"
                    log.error("worker_ended", extra={"status": ended.exitcode, "do": do})
                self._fill()
        except BaseException:
            for worker in self._running:
                worker.terminate()
            raise
        for worker in self._running:
            worker.join()

    def _fill(self) -> None:
        while len(self._running) < self._count and not self._stopping:
            self._start()

    def _start(self, ingest_samples: bool = False) -> str:
        """Start a worker, wait until it serves, and return its report."""
        receiver, sender = SPAWN.Pipe(duplex=False)
        worker = SPAWN.Process(target=self._work, args=(ingest_samples, sender))
        worker.start()
        sender.close()
        self._running.append(worker)
        with receiver:
            try:
                report = receiver.recv()
            except EOFError:
                report = "" if self._stopping else ConfigurationError("A worker ended before it served.")
        if isinstance(report, RAGError):
            worker.join()
            raise report
        return str(report)

    def _forward(self, number: int, _: object) -> None:
        """Send a signal on to every worker; all but SIGHUP stop the service."""
        self._stopping |= number != signal.SIGHUP
        for worker in self._running:
            if worker.pid and worker.is_alive():
                os.kill(worker.pid, number)


def become_worker() -> None:
    """Leave Ctrl+C to the parent, which forwards it, and end when the parent ends."""
    os.setpgid(0, 0)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)  # until it serves

    def end_with_parent() -> None:
        if parent := multiprocessing.parent_process():
            parent.join()
            os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=end_with_parent, daemon=True).start()
