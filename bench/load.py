"""The client: a closed loop over plain HTTP/1.1, in a process of its own.

As many connections as questions in flight; each asks the next question when its answer is there. It reads bytes and
counts them, and parses nothing of an answer, so that it takes as little as can be of the processors it shares with what
it measures. Rounds come in on stdin, one JSON object a line, and go out on stdout the same way.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import math
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httptools

GIVE_UP_SECONDS = 60.0
"""Longest wait for one answer."""


@dataclass(slots=True)
class Round:
    """What one round is: where to, what to ask, how many at once, for how long.

    ``first`` is what the first token's bytes hold, empty for the first byte of the body. ``answered`` is what a body
    with an answer in it holds.
    """

    port: int
    path: str
    bodies: list[str]
    concurrency: int
    seconds: float
    offset: int = 0
    requests: int = 0
    """At most so many; 0: no limit but the time."""
    first: str = ""
    answered: str = ""


@dataclass(slots=True)
class Outcome:
    """What came of it. Times are milliseconds, of answers with status 200 only."""

    times: list[float] = field(default_factory=list)
    firsts: list[float] = field(default_factory=list)
    answered: int = 0
    turned_away: int = 0
    """Answers with status 503."""
    errors: int = 0
    """Other statuses, and connections that failed."""
    seconds: float = 0.0
    client_cpu: float = 0.0

    @property
    def asked(self) -> int:
        """Requests made, however they ended."""
        return len(self.times) + self.turned_away + self.errors


class Connection(asyncio.Protocol):
    """One connection: one request at a time."""

    def __init__(self) -> None:
        self.transport: asyncio.Transport | None = None
        self._done: asyncio.Future[int] | None = None
        self._parser: Any = None
        self.body = bytearray()
        self.first: float | None = None
        self._mark = b""
        self._keep = True

    async def ask(self, request: bytes, mark: bytes) -> int:
        """Send and wait; return the status. Raises ``ConnectionError`` when the server hangs up first."""
        assert self.transport is not None
        self._done = asyncio.get_running_loop().create_future()
        self._parser = httptools.HttpResponseParser(self)
        self.body.clear()
        self.first, self._mark = None, mark
        self.transport.write(request)
        return await self._done

    @property
    def usable(self) -> bool:
        """Whether another request can be sent."""
        return self._keep and self.transport is not None and not self.transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """asyncio's."""
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        """asyncio's."""
        if self._parser is not None:
            self._parser.feed_data(data)

    def connection_lost(self, exc: Exception | None) -> None:
        """asyncio's."""
        if self._done and not self._done.done():
            self._done.set_exception(ConnectionError("the server closed the connection"))

    def on_body(self, body: bytes) -> None:
        """The parser's."""
        self.body += body
        if self.first is None and self._mark in self.body:
            self.first = time.perf_counter()

    def on_message_complete(self) -> None:
        """The parser's."""
        self._keep = self._parser.should_keep_alive()
        if self._done and not self._done.done():
            self._done.set_result(self._parser.get_status_code())


async def run_round(wanted: Round) -> Outcome:
    """Keep ``concurrency`` requests in flight; those begun in time are waited for, and count."""
    found = Outcome()
    requests = [_request(wanted, body) for body in wanted.bodies]
    mark, answered = wanted.first.encode(), wanted.answered.encode()
    cpu, begun = time.process_time(), time.perf_counter()
    until = begun + wanted.seconds
    places = iter(range(wanted.offset, wanted.offset + (wanted.requests or sys.maxsize - wanted.offset)))

    async def client() -> None:
        connection: Connection | None = None
        for place in places:
            sent = time.perf_counter()
            try:
                async with asyncio.timeout(GIVE_UP_SECONDS):
                    if connection is None or not connection.usable:
                        connection = await _connect(wanted.port)
                    status = await connection.ask(requests[place % len(requests)], mark)
            except (OSError, TimeoutError, httptools.HttpParserError):
                found.errors += 1
                connection = None
                await asyncio.sleep(0.01)
            else:
                _count(found, connection, status, sent, answered)
            if time.perf_counter() >= until:
                break
        if connection and connection.transport:
            connection.transport.close()

    await asyncio.gather(*(client() for _ in range(wanted.concurrency)))
    found.seconds = time.perf_counter() - begun
    found.client_cpu = time.process_time() - cpu
    return found


def _count(found: Outcome, connection: Connection, status: int, sent: float, answered: bytes) -> None:
    if status == 503:
        found.turned_away += 1
    elif status != 200:
        found.errors += 1
    else:
        found.times.append((time.perf_counter() - sent) * 1000)
        if connection.first is not None:
            found.firsts.append((connection.first - sent) * 1000)
        found.answered += answered in connection.body


async def _connect(port: int) -> Connection:
    _, connection = await asyncio.get_running_loop().create_connection(Connection, "127.0.0.1", port)
    return connection


def _request(wanted: Round, body: str) -> bytes:
    head = f"POST {wanted.path} HTTP/1.1\r\nHost: 127.0.0.1:{wanted.port}\r\nContent-Type: application/json\r\n"
    content = body.encode()
    return f"{head}Content-Length: {len(content)}\r\n\r\n".encode() + content


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least *percent* of all values do not exceed; NaN of none."""
    if not values:
        return math.nan
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


class LoadClient:
    """The client's process, seen from the one that measures."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "bench.load"]
        pipe, root = subprocess.PIPE, Path(__file__).parent.parent
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=root)

    def run(self, wanted: Round) -> Outcome:
        """One round, start to end."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(asdict(wanted)) + "\n")
        self._process.stdin.flush()
        return Outcome(**json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin
        assert self._process.stdout
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.wait(10)
        self._process.stdout.close()


def main() -> None:
    """Rounds from stdin until it ends."""
    for line in sys.stdin:
        print(json.dumps(asdict(asyncio.run(run_round(Round(**json.loads(line)))))), flush=True)


if __name__ == "__main__":
    main()
