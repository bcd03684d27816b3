"""The files of a collection are read once from end to end, so that questions find them in memory."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import psutil
import pytest

from app.providers.edge_chunks import EdgeChunks
from app.providers.edge_warm import BLOCK, Warming, in_order, share_of_memory
from tests.providers.test_edge_engine import SIZE, point

linux = pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such file, or tell of no holes")


def shard(folder: Path, **sizes: int) -> Path:
    """A folder like a shard's, with files of so many bytes; ``__`` in a name stands for a folder's end."""
    for name, size in sizes.items():
        path = segment(folder) / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    return folder


def segment(folder: Path) -> Path:
    """Where the files of the one segment are."""
    return folder / "segments" / "one"


def hole(folder: Path, name: str, size: int) -> None:
    """A file of *size* bytes that holds none."""
    with (segment(folder) / name).open("wb") as file:
        file.truncate(size)


def bytes_read(folder: Path, most: int | None = None) -> int:
    """Of a whole reading."""
    warming = Warming(folder, most)
    warming.wait()
    return warming.read


def test_what_every_search_needs_comes_first(tmp_path: Path) -> None:
    """The graph, then the vectors it leads to; sentences, of which a question reads few, last."""
    names = ("vector_storage-sentences__a", "payload_storage__b", "vector_storage-dense__c", "vector_index-dense__d")
    ordered = [path.name for path in in_order(shard(tmp_path, **dict.fromkeys(names, 1)))]
    assert ordered == ["d", "c", "b", "a"]


def test_everything_is_read_once(tmp_path: Path) -> None:
    """As many bytes are read as there are."""
    assert bytes_read(shard(tmp_path, payload_storage__a=3 * BLOCK + 1, vector_storage__b=BLOCK)) == 4 * BLOCK + 1


def test_no_more_is_read_than_memory_may_be_filled_with(tmp_path: Path) -> None:
    """The reading ends at so many bytes; where nothing is said, at a share of the machine's memory."""
    assert BLOCK < share_of_memory() < psutil.virtual_memory().total
    assert bytes_read(shard(tmp_path, payload_storage__a=30 * BLOCK), 2 * BLOCK) == 2 * BLOCK


@linux
def test_holes_are_passed_over(tmp_path: Path) -> None:
    """What the engine keeps as room to grow into is neither read nor counted."""
    folder = shard(tmp_path, payload_storage__b=BLOCK)
    hole(folder, "a", 1 << 40)
    assert bytes_read(folder, 4 * BLOCK) == BLOCK


@linux
def test_what_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    """A file that fails while it is read costs no other one; a folder that is gone costs nothing."""
    folder = shard(tmp_path, payload_storage__b=BLOCK)
    (segment(folder) / "id_tracker").symlink_to("/proc/self/mem")  # whose first bytes nobody may read
    assert [path.name for path in in_order(folder)] == ["id_tracker", "b"]
    assert bytes_read(folder) == BLOCK
    shutil.rmtree(folder / "segments")
    assert bytes_read(folder) == 0


def test_it_can_be_given_up(tmp_path: Path) -> None:
    """A reading that is stopped ends at the next block, however much is left."""
    folder = shard(tmp_path, payload_storage__a=200 * BLOCK)
    warming = Warming(folder)
    warming.stop()
    warming.wait()
    assert warming.read < 200 * BLOCK


async def test_an_opened_collection_is_read_until_it_is_closed(tmp_path: Path) -> None:
    """An opening begins it, and so does a shard with new indexes; a closing ends it, so that the folder is nobody's."""
    store = EdgeChunks(tmp_path, "garden", SIZE, optimize_after=10)
    await store.aupsert([point(number) for number in range(30)])
    assert store.engine.warming is None  # what was just written is in memory
    await store.aoptimize()
    assert store.engine.warming
    await store.aclose()
    assert store.engine.warming is None
    again = EdgeChunks(tmp_path, "garden", SIZE)
    again.open()
    warming = again.engine.warming
    assert warming
    warming.wait()
    assert warming.read > 30 * SIZE * 4
    await again.aclose()
