"""Two who ingest into one collection at once: of every document one version remains, whole, and nothing is twice."""

from __future__ import annotations

import json
from pathlib import Path

from langchain_core.embeddings import DeterministicFakeEmbedding

from app.ingest.collection_writer import CollectionWriter, points_of
from app.ingest.documents import SplitDocument, TextChunk
from app.ingest.pipeline import ingest_into
from app.providers.stores.embedded import EmbeddedStore
from app.providers.stores.layout import Point
from tests.support.forked import Forked

SIZE = 8
EMBEDDING = DeterministicFakeEmbedding(size=SIZE)


def opened(folder: Path) -> EmbeddedStore:
    return EmbeddedStore(EMBEDDING, folder, "documents", SIZE)


Parts = tuple[int, list[list[Point]]]


def version(words: str, chunks: int) -> Parts:
    """A document on its way, in two parts, and the number of its chunks."""
    split = [TextChunk(chunk_id=f"d#{n}", chunk_index=n, text=f"{words} {n}.", spans=()) for n in range(chunks)]
    document = SplitDocument(document_id="d", source="d", chunks=tuple(split))
    pending = [*points_of(document, f"hash of {words}", "fake")]
    return chunks, [pending[:-2], pending[-2:]]


async def write(writer: CollectionWriter, total: int, parts: list[list[Point]]) -> None:
    for part in parts:
        await writer.write_batch(part, {"d": total})


async def texts(store: EmbeddedStore) -> set[str]:
    """The text of every stored chunk."""
    return {point.text async for page in store.apoints() for point in page}


async def test_of_two_versions_stored_at_once_one_remains(tmp_path: Path) -> None:
    """Neither writer knew of the other: the later version stands alone, whole."""
    stores = opened(tmp_path), opened(tmp_path)
    for store, parts in zip(stores, (version("Old", 9), version("New", 4)), strict=True):
        await write(CollectionWriter(store, EMBEDDING, "fake"), *parts)
    assert await texts(stores[0]) == {f"New {n}." for n in range(4)}
    assert await stores[0].adocuments() == {"d": "hash of New"}
    for store in stores:
        await store.aclose()


async def test_a_document_that_lost_chunks_on_its_way_does_not_count_as_whole(tmp_path: Path) -> None:
    """Another version came between its parts: the next run finds another hash, and makes it whole."""
    store, (total, new) = opened(tmp_path), version("New", 6)
    writer = CollectionWriter(store, EMBEDDING, "fake")
    for parts in ((total, new[:1]), version("Old", 3), (total, new[1:])):
        await write(writer, *parts)
    assert await store.adocuments() == {"d": "part of hash of New"}
    assert await texts(store) == {"New 0.", "New 5."}
    await write(writer, total, new)
    assert await texts(store) == {f"New {n}." for n in range(6)}
    assert await store.adocuments() == {"d": "hash of New"}
    await store.aclose()


async def test_two_processes_ingest_the_same_files_at_once(tmp_path: Path) -> None:
    """Both succeed, every document is there once, whole, and a third run finds nothing to do."""
    rows = [
        json.dumps({"document_id": f"d{n // 3}", "chunk_id": f"d{n // 3}/{n % 3}", "text": f"Words of {n}."})
        for n in range(600)
    ]
    (path := tmp_path / "rows.jsonl").write_text("\n".join(rows))
    code = f"""
import asyncio, sys
from pathlib import Path
from langchain_core.embeddings import DeterministicFakeEmbedding
from app.ingest.pipeline import ingest_into
from app.ingest.collection_writer import CollectionWriter
from app.providers.stores.embedded import EmbeddedStore

async def main():
    fake = DeterministicFakeEmbedding(size={SIZE})
    store = EmbeddedStore(fake, Path(sys.argv[1]), "documents", {SIZE})
    await ingest_into(CollectionWriter(store, fake, "fake"), [Path(sys.argv[2])])
    await store.aclose()

asyncio.run(main())
"""
    with Forked(code, tmp_path / "data", path) as one, Forked(code, tmp_path / "data", path) as other:
        assert (one.wait(), other.wait()) == (0, 0)
    store = opened(tmp_path / "data")
    assert await store.acount() == 600
    report = await ingest_into(CollectionWriter(store, EMBEDDING, "fake"), [path])
    assert (report.unchanged, report.chunks) == (200, 0)
    await store.aclose()
