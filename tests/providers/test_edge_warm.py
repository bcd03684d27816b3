"""The files of a collection are read once from end to end, so that questions find them in memory."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import psutil
import pytest

from app.providers.edge_chunks import EdgeChunks
from app.providers.edge_warm import BLOCK, Warming, in_order, share_of_memory
from tests.providers.test_edge_engine import SIZE, point


def shard(folder: Path, **sizes: int) -> Path:
    """A folder like a shard's, with files of so many bytes; ``__`` in a name stands for a folder's end."""
    for name, size in sizes.items():
        path = folder / "segments" / "one" / name.replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x" * size)
    return folder


def test_what_every_search_needs_comes_first(tmp_path: Path) -> None:
    """The graph, then the vectors it leads to; sentences, of which a question reads few, last."""
    names = ("vector_storage-sentences__a", "payload_storage__b", "vector_storage-dense__c", "vector_index-dense__d")
    ordered = [path.name for path in in_order(shard(tmp_path, **dict.fromkeys(names, 1)))]
    assert ordered == ["d", "c", "b", "a"]


@pytest.mark.skipif(sys.platform != "linux", reason="what a process reads is told by Linux alone")
def test_everything_is_read_once(tmp_path: Path) -> None:
    """As many bytes are read as there are."""
    folder = shard(tmp_path, payload_storage__a=3 * BLOCK + 1, vector_storage__b=BLOCK)
    before = psutil.Process().io_counters().read_chars  # type: ignore[attr-defined]  # of Linux
    Warming(folder).wait()
    read = psutil.Process().io_counters().read_chars - before  # type: ignore[attr-defined]
    assert 4 * BLOCK + 1 <= read < 5 * BLOCK


@pytest.mark.skipif(sys.platform != "linux", reason="what a process reads is told by Linux alone")
def test_no_more_is_read_than_memory_may_be_filled_with(tmp_path: Path) -> None:
    """The reading ends at so many bytes; where nothing is said, at a share of the machine's memory."""
    assert BLOCK < share_of_memory() < psutil.virtual_memory().total
    folder = shard(tmp_path, payload_storage__a=30 * BLOCK)
    before = psutil.Process().io_counters().read_chars  # type: ignore[attr-defined]
    Warming(folder, 2 * BLOCK).wait()
    assert psutil.Process().io_counters().read_chars - before < 4 * BLOCK  # type: ignore[attr-defined]


def test_a_file_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    """The engine tidies while it is open; the reading goes on with the next file."""
    folder = shard(tmp_path, payload_storage__a=1)
    (folder / "segments" / "one" / "gone").symlink_to(tmp_path / "nowhere")
    os.mkfifo(folder / "segments" / "one" / "waits")  # no file: opening it would wait for ever
    Warming(folder).wait()


async def test_an_opened_collection_is_read_until_it_is_closed(tmp_path: Path) -> None:
    """An opening begins it, and so does a shard with new indexes; a closing ends it."""
    store = EdgeChunks(tmp_path, "garden", SIZE, optimize_after=10)
    await store.aupsert([point(number) for number in range(30)])
    assert store.engine.warming is None  # what was just written is in memory
    await store.aoptimize()
    assert store.engine.warming
    await store.aclose()
    assert store.engine.warming is None
    again = EdgeChunks(tmp_path, "garden", SIZE)
    again.open()
    assert again.engine.warming
    again.engine.warming.wait()
    await again.aclose()
