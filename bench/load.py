"""Ask questions over HTTP/1.1 in a closed loop that only counts bytes: one connection for each in flight."""

from __future__ import annotations

import asyncio
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

GIVE_UP_SECONDS = 60.0
Connection = tuple[asyncio.StreamReader, asyncio.StreamWriter]


@dataclass(slots=True)
class Round:
    """One round: where to, what to ask, how many at once, for how long.

    ``requests`` is the most to make. ``first`` is in the bytes of the first token; ``answered`` is in a
    body with an answer.
    """

    port: int
    path: str
    bodies: list[str]
    concurrency: int
    seconds: float
    offset: int = 0
    requests: int = sys.maxsize
    first: str = ""
    answered: str = ""


@dataclass(slots=True)
class Outcome:
    """Answers in milliseconds (status 200 only), those turned away (503), and other errors."""

    times: list[float] = field(default_factory=list)
    firsts: list[float] = field(default_factory=list)
    answered: int = 0
    turned_away: int = 0
    errors: int = 0
    seconds: float = 0.0

    @property
    def asked(self) -> int:
        """Count the requests, however they ended."""
        return len(self.times) + self.turned_away + self.errors


async def run_round(wanted: Round) -> Outcome:
    """Keep ``concurrency`` requests in flight; those begun in time are waited for, and count."""
    found = Outcome()
    head = f"POST {wanted.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "
    requests = [f"{head}{len(body.encode())}\r\n\r\n{body}".encode() for body in wanted.bodies]
    begun = time.perf_counter()
    numbers = iter(range(wanted.offset, wanted.offset + wanted.requests))
    opened: list[asyncio.StreamWriter] = []

    async def client() -> None:
        connection: Connection | None = None
        while time.perf_counter() < begun + wanted.seconds and (number := next(numbers, None)) is not None:
            sent = time.perf_counter()
            try:
                async with asyncio.timeout(GIVE_UP_SECONDS):
                    if connection is None:
                        connection = await asyncio.open_connection("127.0.0.1", wanted.port)
                        opened.append(connection[1])
                    keep = await _ask(connection, requests[number % len(requests)], wanted, sent, found)
            except (OSError, EOFError, ValueError, TimeoutError):
                found.errors += 1
                keep = False
                await asyncio.sleep(0.01)
            connection = connection if keep else None

    await asyncio.gather(*(client() for _ in range(wanted.concurrency)))
    found.seconds = time.perf_counter() - begun
    for writer in opened:
        writer.close()
    await asyncio.gather(*(writer.wait_closed() for writer in opened), return_exceptions=True)
    return found


async def _ask(connection: Connection, request: bytes, wanted: Round, sent: float, found: Outcome) -> bool:
    """Ask one question and count its answer; tell whether the connection can be used again."""
    reader, writer = connection
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    body, first = b"", math.nan
    if b"\r\ntransfer-encoding: chunked" in head:
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
            if math.isnan(first) and wanted.first.encode() in body:
                first = time.perf_counter()
        await reader.readexactly(2)
    else:
        body = await reader.readexactly(int(head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]))
    status = int(head[9:12])
    if status == 200:
        found.times.append((time.perf_counter() - sent) * 1000)
        found.answered += wanted.answered.encode() in body
        if not math.isnan(first):
            found.firsts.append((first - sent) * 1000)
    else:
        found.turned_away += status == 503
        found.errors += status != 503
    return b"\r\nconnection: close" not in head


def percentile(values: Sequence[float], percent: float) -> float:
    """Find the smallest value that at least *percent* of all values do not exceed; NaN of none."""
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)] if values else math.nan
