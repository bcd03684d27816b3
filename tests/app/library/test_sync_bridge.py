"""The library's event loop: closing it ends the calls that wait for it."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from app.library.sync_bridge import CLOSED, LoopThread


class Work:
    """Work without end that says when it begins and when it was ended."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.ended = False

    async def __call__(self) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True


def test_closing_ends_the_calls_of_other_threads() -> None:
    """Who waits gets an error and not silence; the work is ended before the last thing is done."""
    loop, work = LoopThread(), Work()
    seen: list[bool] = []

    async def last() -> None:
        seen.append(work.ended)

    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(loop.run, work())
        assert work.begun.wait(20)
        loop.close(last)
        with pytest.raises(RuntimeError, match=CLOSED):
            asked.result(20)
    assert seen == [True]


async def test_closing_ends_the_calls_of_other_loops() -> None:
    """An awaited call ends with the same error; one that its own caller cancels is cancelled."""
    loop, work, other = LoopThread(), Work(), Work()
    asked, given_up = asyncio.ensure_future(loop.arun(work())), asyncio.ensure_future(loop.arun(other()))
    assert await asyncio.to_thread(work.begun.wait, 20)
    assert await asyncio.to_thread(other.begun.wait, 20)
    given_up.cancel()
    with pytest.raises(asyncio.CancelledError):
        await given_up
    await asyncio.to_thread(loop.close, partial(asyncio.sleep, 0))
    with pytest.raises(RuntimeError, match=CLOSED):
        await asked


def test_a_closed_loop_takes_nothing_and_closes_once() -> None:
    """Later calls raise at once; a last thing that fails leaves no thread behind."""
    before = set(threading.enumerate())
    loop = LoopThread()

    async def fail() -> None:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        loop.close(fail)
    loop.close(fail)
    with pytest.raises(RuntimeError, match=CLOSED):
        loop.run(asyncio.sleep(0))
    assert set(threading.enumerate()) <= before
