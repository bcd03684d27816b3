"""Reading the embedded engine without a thread, and who may do so when."""

from __future__ import annotations

import asyncio
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from app.providers.edge_chunks import EdgeChunks
from app.providers.edge_engine import READERS
from app.providers.edge_gate import ReadGate
from app.providers.edge_optimizer import EdgeOptimizer
from app.providers.edge_shard import Shard
from graph.errors import StoreUnavailable
from tests.providers.test_edge_engine import SIZE, point


def test_nobody_reads_while_one_is_alone() -> None:
    """As many readers as there are places go in at once; who wants to be alone waits for them and keeps others out."""
    gate = ReadGate(2)
    assert gate.take()
    assert gate.take()
    assert not gate.take()
    inside, leave = threading.Event(), threading.Event()

    def alone() -> None:
        with gate.alone():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=alone)
    thread.start()
    gate.leave()
    assert not inside.is_set()
    gate.leave()
    assert inside.wait(10)
    assert not gate.take()
    leave.set()
    thread.join()
    with gate.reading():
        assert gate.take()
        gate.leave()


async def test_an_open_collection_is_read_on_the_spot(tmp_path: Path) -> None:
    """The first read opens the collection on a thread; later ones run where they are asked for."""
    store = EdgeChunks(tmp_path, "garden", SIZE)
    await store.aupsert([point(number) for number in range(5)])
    await store.aclose()
    store = EdgeChunks(tmp_path, "garden", SIZE)

    def where(shard: Shard) -> tuple[int, threading.Thread]:
        return shard.count(), threading.current_thread()

    first, _ = await store.engine.aread(where, (0, threading.main_thread()))
    count, thread = await store.engine.aread(where, (0, threading.main_thread()))
    assert (first, count) == (5, 5)
    assert thread is threading.current_thread()
    await store.aclose()


async def test_a_read_waits_its_turn_where_the_places_are_taken(tmp_path: Path) -> None:
    """With every place taken a read goes to a thread, and comes back when there is one."""
    store = EdgeChunks(tmp_path, "garden", SIZE)
    await store.aupsert([point(1)])
    busy, done = threading.Barrier(READERS + 1), threading.Event()

    def long(shard: Shard) -> None:
        busy.wait(10)
        done.wait(10)

    reading = [store.engine.read(long, None) for _ in range(READERS)]
    await asyncio.to_thread(busy.wait, 10)
    waiting = asyncio.create_task(store.engine.aread(Shard.count, 0))
    await asyncio.sleep(0)
    assert not waiting.done()
    done.set()
    assert await waiting == 1
    for one in reading:
        one.result(10)
    await store.aclose()


async def test_a_closed_collection_is_unavailable_not_empty(tmp_path: Path) -> None:
    """After the end a read says that the collection is closed; it never looks like one without chunks."""
    store = EdgeChunks(tmp_path, "garden", SIZE)
    await store.aupsert([point(1)])
    await store.aclose()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.engine.aread(Shard.count, 0)


async def test_an_error_of_the_engine_is_ours_on_the_spot_too(tmp_path: Path) -> None:
    """What the engine raises without a thread is told as it is with one, and the place is given back."""
    store = EdgeChunks(tmp_path, "garden", SIZE)
    await store.aupsert([point(1)])

    def fails(shard: Shard) -> int:
        raise Exception("bare, as the engine's are")

    for _ in range(READERS + 1):
        with pytest.raises(StoreUnavailable):
            await store.engine.aread(fails, 0)
    assert await store.engine.aread(Shard.count, 0) == 1
    await store.aclose()


async def test_an_index_is_due(tmp_path: Path) -> None:
    """At so many unindexed points; while more points come, not before they are a fifth of the collection."""
    store = EdgeChunks(tmp_path, "garden", SIZE)
    await store.aupsert([point(number) for number in range(300)])
    optimizer = EdgeOptimizer(store.engine, 50)
    await asyncio.wrap_future(optimizer.start())
    await store.aupsert([point(number) for number in range(300, 349)])
    assert not await store.engine.aread(optimizer.due, True)
    await store.aupsert([point(349)])
    assert await store.engine.aread(optimizer.due, False)
    assert not await store.engine.aread(partial(optimizer.due, more=True), True)  # a fifth of 350 are 70
    await store.aupsert([point(number) for number in range(350, 400)])
    assert await store.engine.aread(partial(optimizer.due, more=True), False)
    optimizer.close()
    await store.aclose()


def wait_for(path: Path) -> None:
    """Return when *path* is there."""
    until = time.monotonic() + 10
    while not path.exists() and time.monotonic() < until:
        time.sleep(0.005)


async def test_nothing_is_left_unindexed_at_the_end(tmp_path: Path) -> None:
    """Points that come while an index is built get theirs when the end asks for it, not with the next thousands."""
    store = EdgeChunks(tmp_path, "garden", SIZE, optimize_after=100)
    await store.aupsert([point(number) for number in range(200)])
    first = asyncio.create_task(store.aoptimize())
    await asyncio.to_thread(wait_for, tmp_path / "garden" / "shard-2")  # the copy is made
    await store.aupsert([point(number) for number in range(200, 400)])
    await asyncio.gather(first, store.aoptimize())
    assert [path.name for path in (tmp_path / "garden").glob("shard-*")] == ["shard-3"]
    assert await store.acount() == 400
    await store.aclose()
