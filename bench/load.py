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


async def run_round(round_: Round) -> Outcome:
    """Keep ``concurrency`` requests in flight; those begun in time are waited for, and count."""
    outcome = Outcome()
    head = f"POST {round_.path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: "
    requests = [f"{head}{len(body.encode())}\r\n\r\n{body}".encode() for body in round_.bodies]
    begun = time.perf_counter()
    numbers = iter(range(round_.offset, round_.offset + round_.requests))
    opened: list[asyncio.StreamWriter] = []

    async def client() -> None:
        connection: Connection | None = None
        while time.perf_counter() < begun + round_.seconds and (number := next(numbers, None)) is not None:
            sent = time.perf_counter()
            try:
                async with asyncio.timeout(GIVE_UP_SECONDS):
                    if connection is None:
                        connection = await asyncio.open_connection("127.0.0.1", round_.port)
                        opened.append(connection[1])
                    keep = await _ask(connection, requests[number % len(requests)], round_, sent, outcome)
            except (OSError, EOFError, ValueError, TimeoutError):
                outcome.errors += 1
                keep = False
                await asyncio.sleep(0.01)
            connection = connection if keep else None

    await asyncio.gather(*(client() for _ in range(round_.concurrency)))
    outcome.seconds = time.perf_counter() - begun
    for writer in opened:
        writer.close()
    await asyncio.gather(*(writer.wait_closed() for writer in opened), return_exceptions=True)
    return outcome


async def _ask(connection: Connection, request: bytes, round_: Round, sent: float, outcome: Outcome) -> bool:
    """Ask one question and count its answer; tell whether the connection can be used again."""
    reader, writer = connection
    writer.write(request)
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    body, first = b"", math.nan
    if b"\r\ntransfer-encoding: chunked" in head:
        while size := int(await reader.readline(), 16):
            body += (await reader.readexactly(size + 2))[:-2]
            if math.isnan(first) and round_.first.encode() in body:
                first = time.perf_counter()
        await reader.readexactly(2)
    else:
        body = await reader.readexactly(int(head.partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0]))
    status = int(head[9:12])
    if status == 200:
        outcome.times.append((time.perf_counter() - sent) * 1000)
        outcome.answered += round_.answered.encode() in body
        if not math.isnan(first):
            outcome.firsts.append((first - sent) * 1000)
    else:
        outcome.turned_away += status == 503
        outcome.errors += status != 503
    return b"\r\nconnection: close" not in head


def percentile(values: Sequence[float], percent: float) -> float:
    """Find the smallest value that at least *percent* of all values do not exceed; NaN of none."""
    return sorted(values)[max(0, math.ceil(len(values) * percent / 100) - 1)] if values else math.nan
