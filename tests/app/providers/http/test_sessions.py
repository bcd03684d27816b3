"""aiohttp's sessions, one for each event loop: none outlives its loop, and no loop is kept alive."""

from __future__ import annotations

import asyncio
import gc
import subprocess
import sys
import weakref
from collections.abc import Iterator

import aiohttp
import pytest

from app.providers.http.transport import Sessions
from tests.peers import OllamaPeer


@pytest.fixture
def peer() -> Iterator[OllamaPeer]:
    with OllamaPeer() as started:
        yield started


async def ask(sessions: Sessions, url: str) -> weakref.ref[asyncio.AbstractEventLoop]:
    """One question on the running loop; returns that loop, weakly."""
    async with sessions.here.get(f"{url}/api/version") as response:
        assert (await response.json())["version"]
    return weakref.ref(asyncio.get_running_loop())


@pytest.mark.parametrize("closing", [True, False])
def test_a_loop_that_has_ended_is_let_go(peer: OllamaPeer, closing: bool) -> None:
    """Whether its session was closed or not: at the next loop's first question at the latest."""
    sessions = Sessions(lambda: aiohttp.ClientSession())

    async def run() -> weakref.ref[asyncio.AbstractEventLoop]:
        loop = await ask(sessions, peer.url)
        if closing:
            await sessions.aclose()
        return loop

    loops = [asyncio.run(run()) for _ in range(5)]
    gc.collect()
    assert sum(loop() is not None for loop in loops) <= (0 if closing else 1)
    assert len(sessions._made) == (0 if closing else 1)
    asyncio.run(sessions.aclose())


async def test_one_session_a_loop(peer: OllamaPeer) -> None:
    """The same one until it is closed; another one after that."""
    sessions = Sessions(lambda: aiohttp.ClientSession())
    first = sessions.here
    assert sessions.here is first
    await sessions.aclose()
    assert first.closed
    await ask(sessions, peer.url)
    assert sessions.here is not first
    await sessions.aclose()


def test_a_process_that_closes_nothing_ends_quietly(peer: OllamaPeer) -> None:
    """Sessions of a loop that runs in a thread, and of one that has ended: neither complains at the end."""
    code = f"""
import asyncio, atexit, logging
import aiohttp

from app.providers.http.transport import Sessions
from app.library.sync_bridge import LoopThread
logging.basicConfig()
sessions = Sessions(lambda: aiohttp.ClientSession())
async def ask():
    async with sessions.here.get("{peer.url}/api/version") as response:
        await response.read()
asyncio.run(ask())
thread = LoopThread()
atexit.register(thread.close)
thread.run(ask())
asyncio.run(ask())
print("asked")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert (done.stdout, done.stderr) == ("asked\n", "")
