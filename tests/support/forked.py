"""Processes that share a file with the test's own, without a second's imports each: forked from one that has them.

For tests of what several processes do to one collection; what a start itself does needs a fresh interpreter.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import sys
import textwrap
from typing import Self

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(
    [
        "app.ingest.pipeline",
        "app.ingest.collection_writer",
        "app.providers.stores.embedded",
        "app.query_service.conversations",
    ]
)


class Forked:
    """A process that runs *code* as a script; ``lines`` is what it prints, ``tell`` what it reads."""

    def __init__(self, code: str, *arguments: object) -> None:
        ours, theirs = socket.socketpair()
        script = textwrap.dedent(code), ["-c", *map(str, arguments)]
        self._process = CONTEXT.Process(target=run, args=(*script, theirs), daemon=True)
        self._process.start()
        theirs.close()
        self.lines = ours.makefile("r")
        self._socket = ours

    def line(self) -> str:
        """The next line it prints; empty once it has ended."""
        return self.lines.readline().strip()

    def tell(self) -> None:
        """Let it read a line."""
        self._socket.sendall(b"\n")

    def kill(self) -> None:
        """End it as ``kill -9`` does."""
        self._process.kill()

    def wait(self) -> int | None:
        """Its exit status, once it has ended; None after a minute."""
        self._process.join(60)
        return self._process.exitcode

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.join(60)
        self.lines.close()
        self._socket.close()


def run(code: str, arguments: list[str], connection: socket.socket) -> None:
    """Be the script: its arguments, and *connection* for what it reads and prints."""
    for number in (0, 1):
        os.dup2(connection.fileno(), number)
    connection.close()
    sys.argv, sys.stdin, sys.stdout = arguments, os.fdopen(0), os.fdopen(1, "w")
    exec(compile(code, "script", "exec"), {"__name__": "__main__"})
    sys.stdout.flush()
