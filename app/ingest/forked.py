"""Start Python programs in processes forked from one that has imported what they need.

That server process is started with the first program, and ends with this process.
"""

import asyncio
import atexit
import errno
import importlib
import json
import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from subprocess import DEVNULL, Popen
from typing import NamedTuple

SERVER = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from app.ingest.forked import serve; serve()"
"""The process that forks finds modules where this one does, and does not run the user's script again."""
PRELOADED = ("app.ingest.reading", "app.ingest.loaders.markdown", "app.ingest.loaders.html")
"""What the process that forks imports: the loaders of the most common files."""
MAX_SETUP_BYTES = 1 << 24
STARTS = 2
"""Attempts at a process: the one that forks may just have died."""


class ForkedProcess(NamedTuple):
    """A process that runs a program; its standard input and output are ``requests`` and ``answers``."""

    pid: int
    answers: asyncio.StreamReader
    requests: asyncio.StreamWriter

    @property
    def has_ended(self) -> bool:
        """Whether it has ended and all its answers are read."""
        return self.answers.at_eof()

    def kill(self) -> None:
        """End it at once."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)

    async def end(self) -> None:
        """Kill it if it runs, and wait until it has ended."""
        try:
            with suppress(OSError):
                if not self.has_ended:
                    self.kill()
                    await self.answers.read()
        finally:
            self.requests.close()
        with suppress(OSError):
            await self.requests.wait_closed()


class ForkServer:
    """Has a process that forks, started when it is first needed and again when it has died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: Popen[bytes] | None = None
        self._connection: socket.socket | None = None
        atexit.register(self.close)

    async def start(self, program: str, limit: int) -> ForkedProcess:
        """Run *program*, with the modules of this process; an answer has *limit* bytes at most.

        Raises ``OSError`` where no process can be started.
        """
        setup = {"program": program, "path": sys.path}
        for _ in range(STARTS):
            ours, server = self._fork()
            answers, requests = await asyncio.open_connection(sock=ours, limit=limit)
            pid = b""
            try:
                with suppress(ConnectionError):
                    requests.write(json.dumps(setup).encode() + b"\n")
                    pid = await answers.readline()
            finally:  # also where the caller has left: the program ends with its input
                if not pid:
                    requests.close()
            if pid:
                return ForkedProcess(int(pid), answers, requests)
            self._close(server)
        raise ChildProcessError(errno.ECHILD, "no process could be started")

    def _fork(self) -> tuple[socket.socket, Popen[bytes]]:
        """Return a socket whose other end a new process has, and the process that forks it."""
        ours, theirs = socket.socketpair()
        with theirs, self._lock:
            if self._process is None or self._connection is None:
                connection, of_server = socket.socketpair()
                with of_server:
                    command = (sys.executable, "-c", SERVER, json.dumps(sys.path))
                    self._process = Popen(
                        command, stdin=of_server.fileno(), stdout=DEVNULL, stderr=DEVNULL, start_new_session=True
                    )
                self._connection = connection
            with suppress(BrokenPipeError):
                socket.send_fds(self._connection, [b"+"], [theirs.fileno()])
            return ours, self._process

    def close(self) -> None:
        """End the process that forks; those that it forked go on."""
        if self._process:
            self._close(self._process)

    def _close(self, process: Popen[bytes]) -> None:
        """End *process*, unless another one has taken its place."""
        with self._lock:
            if process is self._process and self._connection:
                self._connection.close()
                process.kill()
                process.wait()
                self._process = self._connection = None


def serve() -> None:
    """Fork for each socket that standard input brings, until it ends.

    This is the main program of the server process.
    """
    for module in PRELOADED:
        importlib.import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    connection = socket.socket(fileno=os.dup(0))
    while descriptors := socket.recv_fds(connection, 1, 1)[1]:
        try:
            is_forked = os.fork() == 0
        except OSError:  # no further process can be had: the caller sees its connection end
            is_forked = False
        if is_forked:
            connection.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _run(descriptors[0])
        os.close(descriptors[0])


def _run(descriptor: int) -> None:
    """Run the program that comes through a socket, with that as standard input and output."""
    for standard in (0, 1):
        os.dup2(descriptor, standard)
    os.close(descriptor)
    setup = json.loads(sys.stdin.buffer.readline(MAX_SETUP_BYTES))
    sys.path[:] = setup["path"]
    sys.stdout.buffer.write(b"%d\n" % os.getpid())
    sys.stdout.buffer.flush()
    output = sys.stdout
    try:
        exec(setup["program"], {"__name__": "__main__"})  # noqa: S102 - ours: READ and DRAW of reading.py
        output.flush()
    finally:
        os._exit(0)


FORK_SERVER = ForkServer()
