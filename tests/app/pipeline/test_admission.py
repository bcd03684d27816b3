"""Turns: who comes first goes first, few in one round of the event loop, more while others wait."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter

from app.pipeline.admission import MOST_A_ROUND, Admission


async def rounds_of(turns: Admission, many: int) -> list[int]:
    """How many of *many* that come at once began in each round of the loop, in which any began."""
    loop = asyncio.get_running_loop()
    now = 0
    began: list[tuple[int, int]] = []

    def count() -> None:
        nonlocal now
        now += 1
        ticking[0] = loop.call_soon(count)

    ticking = [loop.call_soon(count)]

    async def one(place: int) -> None:
        await turns.turn()
        began.append((place, now))

    await asyncio.wait_for(asyncio.gather(*map(one, range(many))), 10)
    ticking[0].cancel()
    assert [place for place, _ in began] == list(range(many))
    return list(Counter(at for _, at in began).values())


async def test_those_that_come_together_begin_one_by_one_then_more_a_round() -> None:
    """Of thirty-two that come at once one begins, then twice as many from round to round, in the order they came."""
    assert await rounds_of(Admission(), 32) == [1, 2, 4, 8, 16, 1]


async def test_of_a_long_queue_no_round_lets_in_more_than_the_most() -> None:
    """However many came together, no round of the loop lets in more, so that sockets are looked at in between."""
    assert max(await rounds_of(Admission(), 500)) == MOST_A_ROUND


async def test_after_a_pause_one_begins_again() -> None:
    """Once nobody waits, the next that come together begin one by one again."""
    turns = Admission()
    assert await rounds_of(turns, 8) == [1, 2, 4, 1]
    for _ in range(3):
        await asyncio.sleep(0)
    assert await rounds_of(turns, 8) == [1, 2, 4, 1]


async def test_a_question_alone_does_not_wait() -> None:
    """One that comes alone gets its turn without giving the loop away."""
    waits = Admission().turn()
    try:
        waits.send(None)
    except StopIteration:
        return
    raise AssertionError("it waited")


async def test_those_who_give_up_hold_up_nobody() -> None:
    """Who is cancelled while waiting is passed over, all others get their turns, and the next start anew."""
    turns = Admission()
    waiting = [asyncio.create_task(turns.turn()) for _ in range(40)]
    await asyncio.sleep(0)
    for task in waiting[1::2]:
        task.cancel()
    await asyncio.wait_for(asyncio.gather(*waiting[::2]), 10)
    gone = [asyncio.create_task(turns.turn()) for _ in range(40)]
    await asyncio.sleep(0)
    for task in gone:
        task.cancel()
    await asyncio.wait(gone)
    for _ in range(10):
        await asyncio.sleep(0)
    assert await rounds_of(turns, 4) == [1, 2, 1]


def test_event_loops_do_not_wait_for_each_other() -> None:
    """Two loops in two threads that use the same turns at once each get all of theirs."""
    turns = Admission()
    done: list[int] = []

    async def many() -> int:
        for _ in range(50):
            await asyncio.wait_for(asyncio.gather(*(turns.turn() for _ in range(20))), 10)
        return 1

    threads = [threading.Thread(target=lambda: done.append(asyncio.run(many()))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert done == [1, 1]
