"""A disk without room: nothing is written, everything is read, and nobody is brought down."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from app.providers.edge_engine import EdgeEngine
from app.providers.edge_folder import EdgeFolder
from app.providers.edge_room import free_bytes, taken_bytes
from app.providers.holder import CollectionLock, read_holder
from graph.errors import StoreDamaged, StoreUnavailable

SIZE = 8
MORE_THAN_THERE_IS = 1 << 62


def test_a_disk_with_too_little_room_is_told_before_anything_is_written(tmp_path: Path) -> None:
    """A write is refused with the room there is; what is stored is counted as before, and a removal still works."""
    roomy = EdgeEngine(tmp_path, "garden", SIZE)
    roomy.write(lambda shard: None, None, SIZE).result()
    roomy.close()
    engine = EdgeEngine(tmp_path, "garden", SIZE, least=MORE_THAN_THERE_IS)
    with pytest.raises(StoreUnavailable, match=r"its disk has \d+ MB free"):
        engine.write(lambda shard: None, None, SIZE).result()
    assert engine.read(lambda shard: shard.count(), -1).result() == 0
    assert engine.write(lambda shard: "removed", None).result() == "removed"
    engine.close()


def test_a_collection_that_is_not_there_yet_is_not_begun(tmp_path: Path) -> None:
    """Nothing is made that a later start would find half made."""
    engine = EdgeEngine(tmp_path / "data", "garden", SIZE, least=MORE_THAN_THERE_IS)
    with pytest.raises(StoreUnavailable):
        engine.write(lambda shard: None, None, SIZE).result()
    engine.close()
    assert EdgeFolder(tmp_path / "data" / "garden").shards() == []


def test_free_and_taken_are_what_the_system_says(tmp_path: Path) -> None:
    """Free is the disk's, also for a folder that is yet to be made; a file's holes are not taken."""
    assert abs(free_bytes(tmp_path / "a" / "b") - shutil.disk_usage(tmp_path).free) < 1 << 26
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 30)
    (tmp_path / "full").write_bytes(bytes(1 << 20))
    assert 1 << 20 <= taken_bytes(tmp_path) < 1 << 24


def test_who_cannot_write_who_they_are_may_read_all_the_same() -> None:
    """The lock is the system's; what is written in its file is for people. ``/dev/full`` takes no byte."""
    folder = Path("/dev")
    if not (folder / "full").exists():
        pytest.skip("no /dev/full here")
    lock = CollectionLock(folder)
    lock._path = folder / "full"
    lock.acquire()
    lock.announce("http://127.0.0.1:1")
    lock.release()


def test_the_holder_is_what_was_announced_last(tmp_path: Path) -> None:
    """A shorter address leaves nothing of a longer one behind; who has let go says nothing."""
    lock = CollectionLock(tmp_path)
    lock.acquire()
    for address in ("http://127.0.0.1:65000/with/a/long/path", "http://a"):
        lock.announce(address)
        assert read_holder(tmp_path).address == address
    lock.release()
    assert read_holder(tmp_path).pid is None


def test_a_pointer_of_other_bytes_is_damage(tmp_path: Path) -> None:
    """A ``current`` that holds no name is a damaged collection, not a defect."""
    engine = EdgeEngine(tmp_path, "garden", SIZE)
    engine.write(lambda shard: None, None, SIZE).result()
    engine.close()
    (tmp_path / "garden" / "current").write_bytes(b"\xff\xfe")
    again = EdgeEngine(tmp_path, "garden", SIZE)
    with pytest.raises(StoreDamaged):
        again.open()
    again.close()
