"""Places at a chat model that several processes share (``WORKERS`` above 1)."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.providers.chat.model_queue import ModelQueue, SharedPlaces
from graph.errors import Overloaded

HOLD = """
import fcntl, sys, time
file = open(sys.argv[1], "ab")
fcntl.flock(file, fcntl.LOCK_EX)
file.write(b"%f" % (time.time() + 60)); file.flush()
print("held", flush=True)
time.sleep(600)
"""


def queue(folder: Path) -> ModelQueue:
    """The queue of one process."""
    return ModelQueue(1, SharedPlaces(folder, 1))


async def test_a_call_waits_for_that_of_another_process(tmp_path: Path) -> None:
    """Of two processes one asks the model at a time; the other's question waits for its end, then is asked."""
    one, other = queue(tmp_path), queue(tmp_path)
    order = []

    async def ask(place: ModelQueue, name: str) -> None:
        async with place.place(0.1, time.monotonic() + 30):
            order.append(f"{name} begins")
            await asyncio.sleep(0.2)
            order.append(f"{name} ends")

    await asyncio.gather(ask(one, "a"), ask(other, "b"))
    first, second = order[0][0], order[2][0]
    assert order == [f"{first} begins", f"{first} ends", f"{second} begins", f"{second} ends"]
    assert one.wait_seconds() == other.wait_seconds() == 0.0


async def test_a_question_that_cannot_be_answered_in_time_is_refused_at_once(tmp_path: Path) -> None:
    """Where another process holds the model for longer than there is time, the reply says after how many seconds."""
    one, other = queue(tmp_path), queue(tmp_path)
    async with one.place(20.0, time.monotonic() + 60):
        with pytest.raises(Overloaded) as refused:
            async with other.place(1.0, time.monotonic() + 10):
                pass
    assert 15 <= refused.value.details["retryAfterSeconds"] <= 20


async def test_a_process_that_is_killed_leaves_its_place(tmp_path: Path) -> None:
    """The place of a worker that died is free for the others at once."""
    mine = queue(tmp_path)
    command = [sys.executable, "-c", HOLD, str(tmp_path / "place-0")]
    holder = await asyncio.create_subprocess_exec(*command, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert await holder.stdout.readline() == b"held\n"
    assert mine.wait_seconds() > 50
    holder.kill()
    await holder.wait()
    async with mine.place(1.0, time.monotonic() + 10):
        assert queue(tmp_path).wait_seconds() > 0
