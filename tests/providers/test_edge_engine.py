"""The embedded engine: one holder, nothing lost, nothing blocked, indexes built beside the work."""

from __future__ import annotations

import asyncio
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import qdrant_edge as edge

from app.providers import edge_optimize
from app.providers.edge_chunks import EdgeChunks
from app.providers.edge_engine import EdgeEngine
from app.providers.edge_optimizer import OPTIMIZE_AFTER
from app.providers.edge_shard import BATCH, Shard
from app.providers.hybrid import HybridQuery
from app.providers.layout import DENSE, Point, point_id
from graph.errors import ConfigurationError, StoreDamaged, StoreUnavailable

SIZE = 16
ROOT = Path(__file__).parents[2]


def point(number: int, size: int = SIZE, text: str | None = None) -> Point:
    """A chunk of two sentences, its vectors drawn from its number."""
    rows = np.random.default_rng(number).normal(size=(3, size)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    text = text or f"Chunk {number} is here. It says word{number % 7}."
    spans = [[0, len(text) // 2], [len(text) // 2, len(text)]]
    metadata = {
        "chunk_id": f"c{number}",
        "document_id": f"d{number // 10}",
        "spans": spans,
        "content_hash": f"h{number}",
    }
    return Point(f"c{number}", text, metadata, rows[0], rows[1:])


async def found(store: EdgeChunks, *numbers: int, limit: int = 5) -> list[set[str]]:
    """The ids of the chunks nearest to the vectors of these numbers."""
    hits = await store.ahybrid([HybridQuery(point(number).dense, ()) for number in numbers], limit)
    return [{candidate.chunk.chunk_id for candidate in row} for row in hits.candidates]


@pytest.fixture
async def opened() -> AsyncIterator[Callable[..., EdgeChunks]]:
    """Makes stores, and closes them when the test is over."""
    stores: list[EdgeChunks] = []

    def make(*args: Any, **kwargs: Any) -> EdgeChunks:
        stores.append(EdgeChunks(*args, **kwargs))
        return stores[-1]

    yield make
    for one in stores:
        await one.aclose()


@pytest.fixture
async def store(tmp_path: Path, opened: Callable[..., EdgeChunks]) -> EdgeChunks:
    """An empty collection."""
    return opened(tmp_path, "garden", SIZE)


async def test_what_was_stored_is_there_after_closing_and_opening_again(
    store: EdgeChunks, tmp_path: Path, opened: Callable[..., EdgeChunks]
) -> None:
    await store.aupsert([point(number) for number in range(100)])
    before = await found(store, 3, 50)
    await store.aclose()
    again = opened(tmp_path, "garden", SIZE)
    assert await again.acount() == 100
    assert await found(again, 3, 50) == before
    assert await again.achunk_hashes("d9") == {f"c{number}": f"h{number}" for number in range(90, 100)}


async def test_a_collection_that_was_never_written_reads_as_empty_and_leaves_no_shard(
    store: EdgeChunks, tmp_path: Path
) -> None:
    assert await store.acount() == 0
    assert await found(store, 1) == [set()]
    assert await store.adocuments() == {}
    assert await store.adelete_documents(["d1"]) == 0
    await store.aflush()
    await store.aprobe()
    assert not list((tmp_path / "garden").glob("shard-*"))


async def test_a_second_opener_is_told_who_holds_the_collection_and_what_to_do(
    store: EdgeChunks, tmp_path: Path, opened: Callable[..., EdgeChunks]
) -> None:
    await store.aupsert([point(1)])
    other = opened(tmp_path, "garden", SIZE)
    with pytest.raises(StoreUnavailable, match="wait for it to end, or stop it") as told:
        other.open()
    assert str(told.value.details["pid"]) in told.value.message
    store.engine.announce("http://127.0.0.1:8000")
    with pytest.raises(StoreUnavailable, match=r"serves it at http://127\.0\.0\.1:8000"):
        await other.acount()
    await store.aclose()
    assert await other.acount() == 1, "it recovers by itself once the collection is free"


def test_another_process_is_told_the_same(tmp_path: Path) -> None:
    engine = EdgeEngine(tmp_path, "garden", SIZE)
    engine.open()
    code = f"""
        from pathlib import Path
        from app.providers.edge_engine import EdgeEngine
        from graph.errors import StoreUnavailable
        try:
            EdgeEngine(Path({str(tmp_path)!r}), "garden", {SIZE}).open()
        except StoreUnavailable as error:
            print(error.message)
        """
    said = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert 'The collection "garden" is open in process' in said
    engine.close()


async def test_the_engines_own_lock_is_told_in_our_words_too(store: EdgeChunks, tmp_path: Path) -> None:
    """Where the operating system gives us no lock, the engine's is the one that answers."""
    await store.aupsert([point(1)])
    with pytest.raises(StoreUnavailable, match="is open in"):
        EdgeEngine(tmp_path, "garden", SIZE)._load(tmp_path / "garden" / "shard-1")


async def test_vectors_of_another_size_are_refused_naming_both_sizes(
    store: EdgeChunks, tmp_path: Path, opened: Callable[..., EdgeChunks]
) -> None:
    """Writing and opening say that a setting is wrong; to a question the store is not there."""
    await store.aupsert([point(1)])
    with pytest.raises(ConfigurationError, match=r"16 dimensions.*makes 24"):
        await store.aupsert([point(2, size=24)])
    with pytest.raises(StoreUnavailable, match=r"16 dimensions.*makes 24"):
        await store.ahybrid([HybridQuery(point(2, size=24).dense, ())], 3)
    await store.aclose()
    with pytest.raises(ConfigurationError, match=r"16 dimensions.*makes 24"):
        opened(tmp_path, "garden", 24).open()
    unknown = opened(tmp_path, "garden")
    unknown.open()
    unknown.close()


async def test_a_damaged_collection_is_a_clear_error_not_an_empty_one(
    store: EdgeChunks, tmp_path: Path, opened: Callable[..., EdgeChunks]
) -> None:
    await store.aupsert([point(1)])
    await store.aclose()
    for file in (tmp_path / "garden" / "shard-1").rglob("segment.json"):
        file.write_text("{")
    with pytest.raises(StoreDamaged, match=r"segment\.json has 1 bytes.*garden rebuild --collection garden"):
        opened(tmp_path, "garden", SIZE).open()
    (tmp_path / "garden" / "current").write_text("shard-9")
    with pytest.raises(StoreDamaged, match="shard-9 is gone"):
        opened(tmp_path, "garden", SIZE).open()
    (tmp_path / "garden" / "current").unlink()
    with pytest.raises(StoreDamaged, match=r"current.*is gone"):
        opened(tmp_path, "garden", SIZE).open()
    assert (tmp_path / "garden" / "shard-1").is_dir()


@pytest.mark.parametrize("name", ["../elsewhere", "a/b", "", ".", "..", ".hidden", "a\0b"])
def test_a_name_that_would_leave_the_data_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match="not allowed"):
        EdgeEngine(tmp_path, name, SIZE)


def test_a_folder_that_cannot_be_used_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    engine = EdgeEngine(tmp_path / "file", "garden", SIZE)
    with pytest.raises(ConfigurationError, match=r"garden.*DATA_DIR.*Not a directory"):
        engine.open()


async def test_after_closing_every_call_says_so(store: EdgeChunks) -> None:
    await store.aupsert([point(1)])
    await store.aclose()
    await store.aclose()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.acount()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.aupsert([point(2)])


async def test_the_engines_errors_are_told_in_our_words_and_other_errors_stay_loud(store: EdgeChunks) -> None:
    await store.aupsert([point(1)])

    def job(error: Exception) -> None:
        raise error

    with pytest.raises(StoreUnavailable) as told:
        store.engine.read(lambda shard: job(Exception("vendor words")), None).result()
    assert "vendor" not in told.value.message
    with pytest.raises(KeyError):
        store.engine.read(lambda shard: job(KeyError("ours")), None).result()


WRITER = """
    import asyncio, sys
    sys.path[:0] = [{root!r}, {tests!r}]
    from pathlib import Path
    from app.providers.edge_chunks import EdgeChunks
    from test_edge_engine import point

    async def main():
        store = EdgeChunks(Path({path!r}), "garden", 16, optimize_after=300)
        for at in range(0, 100_000, 50):
            await store.aupsert([point(number) for number in range(at, at + 50)])
            print(at + 50, flush=True)
            if at % 500 == 0 and at:
                await store.adelete_documents([f"d{{at // 10}}"])
                print(-at, flush=True)

    asyncio.run(main())
    """


def killed_writer(path: Path, acknowledged: int) -> list[int]:
    """Run the writer until it has said so many lines, kill it a little later, return all it said."""
    code = textwrap.dedent(WRITER.format(root=str(ROOT), tests=str(Path(__file__).parent), path=str(path)))
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout
        lines = [int(writer.stdout.readline()) for _ in range(acknowledged)]
        time.sleep(random.uniform(0, 0.05))
        writer.send_signal(signal.SIGKILL)
        return lines + [int(line) for line in writer.stdout.read().split()]


@pytest.mark.parametrize("acknowledged", [1, 7, 20, 40])
async def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(
    tmp_path: Path, opened: Callable[..., EdgeChunks], acknowledged: int
) -> None:
    """The writer also flushes, deletes and optimizes, so the kill falls into those as well."""
    lines = await asyncio.to_thread(killed_writer, tmp_path, acknowledged)
    stored, deleted = max(lines), {-line // 10 for line in lines if line < 0}
    store = opened(tmp_path, "garden", SIZE)
    kept = {document: await store.achunk_hashes(f"d{document}") for document in range(stored // 10)}
    interrupted = (stored - 50) // 10  # the one deletion that may have been done and not yet said
    for document, hashes in kept.items():
        if document in deleted:
            assert hashes == {}
        elif document != interrupted:
            assert hashes == {f"c{n}": f"h{n}" for n in range(document * 10, document * 10 + 10)}
    nearest = set().union(*await found(store, *range(0, stored, 50), limit=1))
    assert nearest <= {name for hashes in kept.values() for name in hashes} | {
        f"c{n}" for n in range(stored, stored + 50)
    }


async def test_long_writes_leave_the_event_loop_and_the_readers_running(store: EdgeChunks) -> None:
    await store.aupsert([point(number) for number in range(200)])
    writing = asyncio.create_task(store.aupsert([point(number) for number in range(200, 200 + 60 * BATCH)]))
    turns = reads = 0
    while not writing.done():
        await asyncio.sleep(0)
        turns += 1
        if turns % 50 == 0:
            assert await found(store, 5, limit=1) == [{"c5"}]
            reads += 1
    assert reads >= 5
    assert turns > 60


async def test_32_clients_search_and_write_at_once(store: EdgeChunks) -> None:
    async def client(number: int) -> None:
        for turn in range(6):
            mine = 1000 * (number + 1) + turn
            await store.aupsert([point(mine)])
            assert await found(store, mine, limit=1) == [{f"c{mine}"}]
            if turn % 3 == 2:
                assert await store.adelete_chunks([f"c{mine}", "nobody"]) == 1

    await asyncio.gather(*(client(number) for number in range(32)))
    assert await store.acount() == 32 * 4


async def test_32_threads_search_and_write_at_once(store: EdgeChunks) -> None:
    failures: list[BaseException] = []

    def client(number: int) -> None:
        try:
            asyncio.run(work(1000 * (number + 1)))
        except BaseException as error:  # noqa: BLE001  # whatever a thread died of is the finding
            failures.append(error)

    async def work(number: int) -> None:
        await store.aupsert([point(number), point(number + 1)])
        assert await found(store, number, limit=1) == [{f"c{number}"}]

    threads = [threading.Thread(target=client, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    assert not failures
    assert await store.acount() == 64


async def test_optimizing_goes_on_beside_searches_and_writes_and_keeps_them_all(
    tmp_path: Path, opened: Callable[..., EdgeChunks]
) -> None:
    store = opened(tmp_path, "garden", SIZE, optimize_after=300)
    await store.aupsert([point(number) for number in range(400)])
    optimizing = asyncio.create_task(store.aoptimize())
    number = 400
    while not optimizing.done():
        await store.aupsert([point(number), point(number % 7, text="Said anew. Twice.")])
        await store.adelete_chunks([f"c{number - 200}"])
        assert await found(store, number, limit=1) == [{f"c{number}"}]
        number += 1
    assert number > 401
    assert [path.name for path in (tmp_path / "garden").glob("shard-*")] == ["shard-2"]
    assert await store.acount() == 400
    assert await found(store, number - 1, limit=1) == [{f"c{number - 1}"}]
    hits = await store.ahybrid([HybridQuery(point(1).dense, ())], 1)
    assert hits.candidates[0][0].chunk.text == "Said anew. Twice."
    assert len((await store.asentences(hits.candidates[0]))[hits.candidates[0][0].key]) == 2


async def test_only_one_optimization_runs_at_a_time(
    tmp_path: Path, opened: Callable[..., EdgeChunks], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    popen = subprocess.Popen

    def counted(*args: Any, **kwargs: Any) -> Any:
        started.append(args)
        return popen(*args, **kwargs)

    monkeypatch.setattr(subprocess, "Popen", counted)
    store = opened(tmp_path, "garden", SIZE, optimize_after=300)
    await store.aupsert([point(number) for number in range(400)])
    await asyncio.gather(*(store.aoptimize() for _ in range(8)))
    await store.aoptimize()
    assert len(started) == 1, "and the points that one has seen do not start another"


async def test_ingesting_enough_points_starts_the_optimization_by_itself(
    tmp_path: Path, opened: Callable[..., EdgeChunks]
) -> None:
    store = opened(tmp_path, "garden", SIZE, optimize_after=500)
    await store.aupsert([point(number) for number in range(640)])
    running = store._optimizer._running
    assert running is not None
    await asyncio.wrap_future(running)
    assert (tmp_path / "garden" / "current").read_text() == "shard-2"
    assert await store.acount() == 640


async def test_an_optimization_that_fails_changes_nothing(
    tmp_path: Path, opened: Callable[..., EdgeChunks], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(edge_optimize, "__file__", str(tmp_path / "nothing.py"))
    store = opened(tmp_path, "garden", SIZE, optimize_after=300)
    await store.aupsert([point(number) for number in range(400)])
    await store.aoptimize()
    assert "optimize_failed" in caplog.text
    assert await found(store, 7, limit=1) == [{"c7"}]
    await store.aupsert([point(500)])
    await store.aclose()
    again = opened(tmp_path, "garden", SIZE)
    assert await again.acount() == 401
    assert [path.name for path in (tmp_path / "garden").glob("shard-*")] == ["shard-1"], "the unfinished copy is gone"


async def test_closing_gives_up_an_optimization(tmp_path: Path, opened: Callable[..., EdgeChunks]) -> None:
    store = opened(tmp_path, "garden", SIZE, optimize_after=300)
    await store.aupsert([point(number) for number in range(400)])
    optimizing = asyncio.create_task(store.aoptimize())
    await asyncio.sleep(0.05)
    await store.aclose()
    await asyncio.gather(optimizing, return_exceptions=True)
    again = opened(tmp_path, "garden", SIZE)
    assert await again.acount() == 400


def test_a_shard_without_bytes_is_searched_by_its_vectors(tmp_path: Path) -> None:
    """A collection made before there was quantization, or by somebody else, indexed or not, gives the same."""
    path = tmp_path / "shard"
    path.mkdir()
    plain = edge.EdgeVectorParams(size=1024, distance=edge.Distance.Cosine)
    edge.EdgeShard.create(str(path), edge.EdgeConfig(vectors={DENSE: plain})).close()
    points = [point(number, size=1024) for number in range(2600)]
    shard = Shard(path)
    for at in range(0, 2600, BATCH):
        shard.upsert([replace(one, sentences=one.sentences[:0]) for one in points[at : at + BATCH]])
    before = shard.search([points[7].dense], [], 1, None)
    shard.close()
    edge_optimize.main(str(path))
    assert not list(path.rglob("quantized*"))
    shard = Shard(path)
    assert shard.unindexed() < 100
    for (hit,) in (before[0], shard.search([points[7].dense], [], 1, None)[0]):
        assert (str(hit.id), hit.score) == (point_id("c7"), pytest.approx(1.0, abs=1e-5))
    shard.close()


def test_the_chunks_for_which_a_run_begins_are_indexed_by_it(tmp_path: Path) -> None:
    """Of the local model's 384 dimensions, which are the fewest bytes: else the run would be for nothing."""
    Shard.create(tmp_path / "shard", 384)
    shard = Shard(tmp_path / "shard")
    spare = point(0, size=384)
    rows = np.random.default_rng(0).normal(size=(OPTIMIZE_AFTER, 384)).astype(np.float32)
    for at in range(0, OPTIMIZE_AFTER, BATCH):
        shard.upsert([replace(spare, chunk_id=f"c{at + n}", dense=row) for n, row in enumerate(rows[at : at + BATCH])])
    assert shard.unindexed() == OPTIMIZE_AFTER
    shard.close()
    edge_optimize.main(str(tmp_path / "shard"))
    shard = Shard(tmp_path / "shard")
    assert shard.unindexed() == 0
    shard.close()


def test_an_optimized_shard_is_indexed(tmp_path: Path) -> None:
    """From 10 MB of vectors on the engine indexes. Bytes find what is near; scores are those of the vectors."""
    Shard.create(tmp_path / "shard", 1024)
    shard = Shard(tmp_path / "shard")
    points = [point(number, size=1024) for number in range(2600)]
    for at in range(0, 2600, BATCH):
        shard.upsert(points[at : at + BATCH])
    assert shard.unindexed() >= 2500
    shard.close()
    edge_optimize.main(str(tmp_path / "shard"))
    assert list((tmp_path / "shard").rglob("quantized*"))
    shard = Shard(tmp_path / "shard")
    assert shard.unindexed() < 100
    asked = [one.dense for one in points[::100]]
    hits = shard.search(asked, [], 10, None)
    vectors = {point_id(one.chunk_id): one.dense for one in points}
    for vector, row in zip(asked, hits, strict=True):
        cosines = [float(vectors[str(hit.id)] @ vector) for hit in row]
        assert [hit.score for hit in row] == pytest.approx(cosines, abs=1e-5)
        assert cosines[0] == pytest.approx(1.0, abs=1e-5)
    nearest = shard.search(asked, [], 10, None, exact=True)
    found = [len({a.id for a in row} & {b.id for b in there}) for row, there in zip(hits, nearest, strict=True)]
    assert sum(found) >= 0.9 * 10 * len(asked)
    shard.close()
