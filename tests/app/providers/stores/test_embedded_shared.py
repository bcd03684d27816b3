"""The embedded store among processes: nothing is lost by a kill, no process waits for a reader, writers take turns."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from app.providers.stores.embedded import EmbeddedStore
from app.providers.stores.hybrid import HybridQuery
from graph.errors import ConfigurationError, StoreDamaged, StoreUnavailable
from tests.app.providers.stores.embedded_points import SIZE, found, point, store_in
from tests.support.forked import Forked
from tests.support.paths import ROOT


@pytest.fixture
async def opened(tmp_path: Path) -> AsyncIterator[Callable[..., EmbeddedStore]]:
    """Opens the collection, as often as one likes, and closes it again when the test is over."""
    stores: list[EmbeddedStore] = []

    def make(**options: Any) -> EmbeddedStore:
        stores.append(store_in(tmp_path, **options))
        return stores[-1]

    yield make
    for store in stores:
        await store.aclose()


WRITER = """
    import asyncio, sys
    from pathlib import Path
    from tests.app.providers.stores.embedded_points import point, store_in

    async def main():
        store = store_in(Path(sys.argv[1]), build_from=300)
        for at in range(0, 100_000, 50):
            await store.aupsert([point(number) for number in range(at, at + 50)])
            print(at + 50, flush=True)
            if at % 500 == 0 and at:
                await store.adelete_documents([f"d{at // 10}"])
                print(-at, flush=True)

    asyncio.run(main())
"""


def killed_writer(path: Path, acknowledged: int) -> list[int]:
    """Run the writer until it has printed so many lines, kill it a little later, return all it printed."""
    with Forked(WRITER, path) as writer:
        lines = [int(writer.line()) for _ in range(acknowledged)]
        time.sleep(random.uniform(0, 0.05))
        writer.kill()
        return lines + [int(line) for line in writer.lines.read().split()]


MOMENTS = [1, 7, 20, 40]


@pytest.mark.parametrize(
    "acknowledged", [*MOMENTS, *(pytest.param(n, marks=pytest.mark.long) for n in range(2, 60) if n not in MOMENTS)]
)
async def test_a_kill_at_any_moment_loses_nothing_that_was_acknowledged(
    tmp_path: Path, opened: Callable[..., EmbeddedStore], acknowledged: int
) -> None:
    """The writer also deletes and saves segments, so the kill falls into those as well; no other process is stopped."""
    reader = opened()
    lines = await asyncio.to_thread(killed_writer, tmp_path, acknowledged)
    stored, deleted = max(lines), {-line // 10 for line in lines if line < 0}
    for store in (reader, opened()):
        kept = {document: await store.achunk_hashes(f"d{document}") for document in range(stored // 10)}
        interrupted = (stored - 50) // 10  # the one deletion that may have been done and not yet reported
        for document, hashes in kept.items():
            if document in deleted:
                assert hashes == {}
            elif document != interrupted:
                assert hashes == {f"c{n}": f"h{n}" for n in range(document * 10, document * 10 + 10)}
        nearest = set().union(*await found(store, *range(0, stored, 50), limit=1))
        assert nearest <= {name for hashes in kept.values() for name in hashes} | {
            f"c{n}" for n in range(stored, stored + 50)
        }
        await store.aupsert([point(1)])
        await store.aoptimize()


async def test_what_one_process_writes_the_others_find(tmp_path: Path, opened: Callable[..., EmbeddedStore]) -> None:
    """A chunk that another process adds, changes and deletes is found, changed and gone with the next search here."""
    code = """
        import asyncio, sys
        from pathlib import Path
        from tests.app.providers.stores.embedded_points import point, store_in

        async def main():
            store = store_in(Path(sys.argv[1]))
            await store.aupsert([point(number) for number in range(20)])
            print("added", flush=True); sys.stdin.readline()
            await store.aupsert([point(3, text="Said anew. Twice.")])
            await store.adelete_chunks(["c4"])
            print("changed", flush=True); sys.stdin.readline()
            await store.aclose()

        asyncio.run(main())
    """
    store = opened()
    assert await store.acount() == 0
    with Forked(code, tmp_path) as other:
        assert await asyncio.to_thread(other.line) == "added"
        assert await found(store, 3, 4, limit=1) == [{"c3"}, {"c4"}]
        other.tell()
        assert await asyncio.to_thread(other.line) == "changed"
        assert await found(store, 4, limit=1) != [{"c4"}]
        assert (await store.aget_by_ids(["c3"]))[0].page_content == "Said anew. Twice."
        other.tell()
        assert other.wait() == 0
    assert await store.acount() == 19


async def test_a_second_writer_waits_and_then_says_so(tmp_path: Path, opened: Callable[..., EmbeddedStore]) -> None:
    """While another process writes, reading goes on; a write waits as long as it may, then ends in one line."""
    store, patient = opened(wait=0.2), opened(wait=30.0)
    await store.aupsert([point(1)])
    code = """
        import sqlite3, sys
        connection = sqlite3.connect(sys.argv[1], isolation_level=None)
        connection.execute("BEGIN IMMEDIATE")
        print("writing", flush=True)
        sys.stdin.readline()
        connection.execute("COMMIT")
    """
    with Forked(code, tmp_path / "garden" / "garden.sqlite3") as other:
        assert await asyncio.to_thread(other.line) == "writing"
        assert await found(store, 1) == [{"c1"}]
        with pytest.raises(StoreUnavailable, match=r"written by another process.*within 0\.2 s") as reported:
            await store.aupsert([point(2)])
        assert "\n" not in reported.value.message
        waiting = asyncio.create_task(patient.aupsert([point(3)]))
        await asyncio.sleep(0.3)
        assert not waiting.done()
        other.tell()
        await waiting
    assert await store.acount() == 2


async def test_32_clients_search_and_write_at_once(opened: Callable[..., EmbeddedStore]) -> None:
    """Over four stores of one process: each finds what it wrote, and nothing is lost."""
    stores = [opened() for _ in range(4)]

    async def client(number: int) -> None:
        store = stores[number % 4]
        for turn in range(6):
            mine = 1000 * (number + 1) + turn
            await store.aupsert([point(mine)])
            assert await found(store, mine, limit=1) == [{f"c{mine}"}]
            if turn % 3 == 2:
                assert await store.adelete_chunks([f"c{mine}", "nobody"]) == 1

    await asyncio.gather(*(client(number) for number in range(32)))
    assert {await store.acount() for store in stores} == {32 * 4}


async def test_16_threads_search_and_write_at_once(opened: Callable[..., EmbeddedStore]) -> None:
    """Each with a loop of its own, as a program has that uses the library in threads."""
    store, failures = opened(), list[BaseException]()

    def client(number: int) -> None:
        try:
            asyncio.run(work(1000 * (number + 1)))
        except BaseException as error:  # noqa: BLE001  # whatever a thread died of is the finding
            failures.append(error)

    async def work(number: int) -> None:
        await store.aupsert([point(number), point(number + 1)])
        assert await found(store, number, limit=1) == [{f"c{number}"}]

    threads = [threading.Thread(target=client, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        await asyncio.to_thread(thread.join)
    assert not failures
    assert await store.acount() == 32


async def test_saving_segments_goes_on_beside_searches_and_writes(
    tmp_path: Path, opened: Callable[..., EmbeddedStore]
) -> None:
    """What is written, changed and deleted meanwhile is found as it is; in another store of the collection, too."""
    store, other = opened(build_from=100), opened()
    await store.aupsert([point(number) for number in range(400)])
    for number in range(400, 420):
        saving = asyncio.create_task(store.aoptimize())
        await store.aupsert([point(number), point(number % 7, text="Said anew. Twice.")])
        await store.adelete_chunks([f"c{number - 200}"])
        assert await found(other, number, limit=1) == [{f"c{number}"}]
        assert await found(other, number - 200, limit=1) != [{f"c{number - 200}"}]
        await saving
    assert list((tmp_path / "garden").glob("segment-*"))
    assert await other.acount() == 400
    assert (await store.aget_by_ids(["c1"]))[0].page_content == "Said anew. Twice."


async def test_every_chunk_of_a_saved_segment_is_found(opened: Callable[..., EmbeddedStore]) -> None:
    """By its own vector, whatever the index approximates."""
    store = opened(build_from=100)
    await store.aupsert([point(number) for number in range(2_000)])
    await store.aoptimize()
    assert await found(store, *range(2_000), limit=1) == [{f"c{number}"} for number in range(2_000)]


@pytest.mark.parametrize(
    "where",
    [
        {"document_id": ["d7"]},
        {"chunk_id": [f"c{number}" for number in range(500, 1_500)]},
        {"source": ["s1"]},
        {"chunk_id": [f"c{number}" for number in range(1_500, 2_500)], "source": ["s0"]},
    ],
    ids=["ten chunks", "a thousand", "half of all", "two conditions"],
)
async def test_filters_of_a_saved_segment_are_exact(
    opened: Callable[..., EmbeddedStore], where: dict[str, list[str]]
) -> None:
    """Whatever share of the chunks passes: as many as pass are found, none other, and the nearest of them first."""
    store, points = opened(build_from=100), [point(number) for number in range(2_000)]
    await store.aupsert(points)
    await store.aoptimize()
    allowed = [point for point in points if all(point.metadata[name] in value for name, value in where.items())]
    query = HybridQuery(point(5_000).dense, ())
    nearest = sorted(allowed, key=lambda point: -float(point.dense @ query.dense))
    for limit in (10, len(allowed)):
        ((*hits,),) = (await store.ahybrid([query], limit, where)).candidates
        assert [hit.chunk.chunk_id for hit in hits] == [point.chunk_id for point in nearest[:limit]]


async def test_segments_do_not_show(opened: Callable[..., EmbeddedStore]) -> None:
    """With chunks in a saved segment and beside it as many are found as asked for: the nearest of both."""
    store, points = opened(build_from=100), [point(number) for number in range(150)]
    await store.aupsert(points[:100])
    await store.aoptimize()
    await store.aupsert(points[100:])
    query = HybridQuery(point(5_000).dense, ())
    nearest = sorted(points, key=lambda point: -float(point.dense @ query.dense))[:20]
    ((*hits,),) = (await store.ahybrid([query], 20)).candidates
    assert [hit.chunk.chunk_id for hit in hits] == [point.chunk_id for point in nearest]
    assert {point.chunk_id in {own.chunk_id for own in points[100:]} for point in nearest} == {True, False}


async def test_segments_that_are_lost_or_broken_cost_no_answer(
    tmp_path: Path, opened: Callable[..., EmbeddedStore], caplog: pytest.LogCaptureFixture
) -> None:
    """What is searched is read from the database then, and made anew with the next saving."""
    store = opened(build_from=100)
    await store.aupsert([point(number) for number in range(200)])
    await store.aoptimize()
    before = await found(store, 3, 70)
    for folder in (tmp_path / "garden").glob("segment-*"):
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()
    again = opened(build_from=100)
    assert await found(again, 3, 70) == before
    assert [record.message for record in caplog.records if record.name == "garden.store"]
    await again.aoptimize()
    assert list((tmp_path / "garden").glob("segment-*"))
    assert await found(opened(), 3, 70) == before


async def test_a_model_can_be_loaded_after_a_segment_was_opened(
    tmp_path: Path, opened: Callable[..., EmbeddedStore]
) -> None:
    """ONNX Runtime crashes a process that loaded usearch first; ``garden check --repair`` needs them in that order."""
    store = opened(build_from=100)
    await store.aupsert([point(number) for number in range(200)])
    await store.aoptimize()
    code = """
        import sys
        from pathlib import Path
        from app.providers.stores.database import Database
        from app.providers.stores.segments import View

        database = Database(Path(sys.argv[1]), "garden", 1.0)
        print(len(database.read(lambda connection: View().updated(connection, database.folder)).segments))
        import onnxruntime
    """
    command = [sys.executable, "-c", textwrap.dedent(code), tmp_path]
    options = {"capture_output": True, "text": True, "env": {"PYTHONPATH": str(ROOT)}}
    other = await asyncio.to_thread(subprocess.run, command, **options)
    assert (other.returncode, other.stdout) == (0, "2\n")


async def test_a_folder_that_was_removed_is_an_empty_collection(
    tmp_path: Path, opened: Callable[..., EmbeddedStore]
) -> None:
    """An open store finds that the files are gone, and begins anew with the next write."""
    store = opened()
    await store.aupsert([point(1)])
    assert await found(store, 1) == [{"c1"}]
    for file in (tmp_path / "garden").iterdir():
        file.unlink()
    assert await store.acount() == 0
    await store.aupsert([point(2)])
    assert await found(store, 2) == [{"c2"}]


async def test_a_filter_is_remembered_no_longer_than_it_is_true(opened: Callable[..., EmbeddedStore]) -> None:
    """What another store adds, and removes, under a filter that was asked before is found, and found no more."""
    store, other = opened(), opened()
    await store.aupsert([point(number) for number in range(6)])
    query = [HybridQuery(point(1).dense, (), 20)]

    async def sources() -> list[str]:
        hits = await store.ahybrid(query, 20, {"source": "s1"})
        return sorted(candidate.chunk.chunk_id for candidate in hits.candidates[0])

    assert await sources() == await sources() == ["c1", "c3", "c5"]
    await other.aupsert([point(7)])
    await other.adelete_chunks(["c3"])
    assert await sources() == ["c1", "c5", "c7"]


async def test_vectors_of_another_size_are_refused_naming_both_sizes(opened: Callable[..., EmbeddedStore]) -> None:
    """Writing and opening say that a setting is wrong; to a question the store is not there."""
    store = opened(size=None)
    await store.aupsert([point(1)])
    with pytest.raises(ConfigurationError, match=r"16 dimensions.*makes 24"):
        await store.aupsert([point(2, size=24)])
    with pytest.raises(ConfigurationError, match=r"16 dimensions.*makes 24"):
        opened(size=24).open()
    opened(size=None).open()


async def test_damage_is_a_clear_error_and_never_an_empty_collection(
    tmp_path: Path, opened: Callable[..., EmbeddedStore]
) -> None:
    """A changed byte of a chunk, and a file that is no database, name the command that mends them."""
    store = opened()
    await store.aupsert([point(1)])
    await store.aclose()
    file = tmp_path / "garden" / "garden.sqlite3"
    content = file.read_bytes()
    file.write_bytes(content.replace(b"Chunk 1 is here", b"Chunk 7 is here"))
    with pytest.raises(StoreDamaged, match=r"chunk 'c1'.*garden check --repair --collection garden"):
        await found(opened(), 1)
    file.write_bytes(b"\0" * len(content))
    with pytest.raises(StoreDamaged, match="garden check --repair"):
        await opened().acount()


@pytest.mark.parametrize("name", ["../elsewhere", "a/b", "", ".", "..", ".hidden", "a\0b"])
def test_a_name_that_would_leave_the_data_folder_is_refused(tmp_path: Path, name: str) -> None:
    """A collection cannot be named by a path."""
    with pytest.raises(ConfigurationError, match="not allowed"):
        EmbeddedStore(store_in(tmp_path).embeddings, tmp_path, name, SIZE)


def test_a_folder_that_cannot_be_used_is_a_clear_error(tmp_path: Path) -> None:
    """The message names the setting and the reason."""
    (tmp_path / "file").touch()
    with pytest.raises(ConfigurationError, match=r"garden.*DATA_DIR.*Not a directory"):
        store_in(tmp_path / "file").open()


async def test_after_closing_every_call_says_so(opened: Callable[..., EmbeddedStore]) -> None:
    """It never looks like a collection without chunks."""
    store = opened()
    await store.aupsert([point(1)])
    await store.aclose()
    await store.aclose()
    for call in (store.acount(), store.aupsert([point(2)])):
        with pytest.raises(StoreUnavailable, match="closed"):
            await call


async def test_a_full_disk_is_reported_and_nothing_stored_is_lost(
    tmp_path: Path, opened: Callable[..., EmbeddedStore]
) -> None:
    """Where files may not grow past 1 MB, a write ends in one line; what was acknowledged before it is all there."""
    code = """
        import asyncio, resource, signal, sys
        from pathlib import Path
        from graph.errors import StoreUnavailable
        from tests.app.providers.stores.embedded_points import point, store_in

        async def main():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
            store, stored = store_in(Path(sys.argv[1])), 0
            try:
                for at in range(0, 100_000, 50):
                    await store.aupsert([point(number) for number in range(at, at + 50)])
                    stored = at + 50
            except StoreUnavailable as error:
                print(stored, error.message, flush=True)

        asyncio.run(main())
    """
    with Forked(code, tmp_path) as other:
        stored, _, message = (await asyncio.to_thread(other.line)).partition(" ")
    assert "cannot grow" in message
    store = opened()
    assert await store.acount() == int(stored) > 0
    await store.aupsert([point(99_999)])
    with sqlite3.connect(tmp_path / "garden" / "garden.sqlite3") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()
