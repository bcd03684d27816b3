"""The file of ``garden export``: everything comes back, and a file that is not whole does nothing."""

from __future__ import annotations

import gzip
import json
import random
import tracemalloc
from base64 import b64encode
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from app.ingest.transfer.archive import GROUP, Archive, Head, write_archive
from app.ingest.transfer.copy import copy
from app.providers.embeddings.models import EmbeddingModel
from app.providers.stores.chroma import ChromaStore
from app.providers.stores.embedded import EmbeddedStore
from app.providers.stores.hybrid import HybridQuery
from app.providers.stores.layout import Point
from app.providers.stores.qdrant import QdrantStore
from app.settings import load_settings
from graph.errors import ConfigurationError, InvalidInput
from tests.contract.vector_store_kit import EMBEDDING, FRUIT, SIZE, point
from tests.peers.chroma_server import ChromaServer
from tests.peers.qdrant_peer import QdrantPeer
from tests.support.vectors import question_vector

HEAD = Head(collection="garden", embedding_model="fake", dimension=SIZE)
FAKE = EmbeddingModel("fake", EMBEDDING, SIZE)


def fruit(count: int) -> list[Point]:
    """So many points, five a document, texts all different."""
    return [
        point(f"d{n // 5}", n % 5, f"h{n // 5}" if n % 5 == 0 else f"part of h{n // 5}", f"{FRUIT[n % 5]} Number {n}.")
        for n in range(count)
    ]


async def pages(points: list[Point]) -> AsyncIterator[list[Point]]:
    for at in range(0, len(points), 50):
        yield points[at : at + 50]


async def held(store: EmbeddedStore) -> dict[str, tuple[object, ...]]:
    """All that a collection holds."""
    found = [point async for page in store.apoints() for point in page]
    return {
        point.chunk_id: (point.text, point.metadata, point.dense.tobytes(), point.sentences.tobytes(), point.sparse)
        for point in found
    }


def opened(folder: Path) -> EmbeddedStore:
    return EmbeddedStore(EMBEDDING, folder, "garden", SIZE)


async def exported(folder: Path, count: int = 2 * GROUP + 7) -> Path:
    """A file with so many points in it."""
    file = folder / "garden.jsonl.gz"
    await write_archive(file, HEAD, pages(fruit(count)))
    return file


async def test_everything_comes_back(tmp_path: Path) -> None:
    """Texts, metadata, all vectors and every search result are the same after the move, to the last byte."""
    here, there = opened(tmp_path / "a"), opened(tmp_path / "b")
    await here.aupsert(fruit(2 * GROUP + 7))
    head = await write_archive(tmp_path / "one.jsonl.gz", HEAD, here.apoints())
    archive = Archive(tmp_path / "one.jsonl.gz")
    done = await copy(archive, archive.documents, there, FAKE)
    assert (head.chunks, done.chunks, done.unchanged) == (2 * GROUP + 7, 2 * GROUP + 7, 0)
    assert await held(there) == await held(here)
    assert await there.adocuments() == await here.adocuments()
    await write_archive(tmp_path / "two.jsonl.gz", HEAD, there.apoints())
    assert (tmp_path / "two.jsonl.gz").read_bytes() == (tmp_path / "one.jsonl.gz").read_bytes()
    for text in FRUIT:
        asked = [HybridQuery(question_vector(EMBEDDING, text), (3, 5))]
        first, second = await here.ahybrid(asked, 10), await there.ahybrid(asked, 10)
        assert [candidate.chunk for candidate in first.candidates[0]] == [
            candidate.chunk for candidate in second.candidates[0]
        ]
        assert await here.asimilarity_search_with_score(text) == await there.asimilarity_search_with_score(text)
    assert (await copy(archive, archive.documents, there, FAKE)).chunks == 0
    await here.aclose()
    await there.aclose()


async def test_a_copy_that_was_cut_short_goes_on(tmp_path: Path) -> None:
    """Ended at any group, no document looks complete that is not; the next run makes all as it should be."""
    file = await exported(tmp_path)
    archive = Archive(file)
    store = opened(tmp_path / "b")
    older = point("d3", 9, "part of h0", "Quinces are hard.")
    await store.aupsert([point("d3", 0, "h0", "Medlars are soft."), older])

    class Broken:
        """The file, as it is read when its disk goes."""

        async def apoints(self) -> AsyncIterator[list[Point]]:
            yield [point async for page in archive.apoints() for point in page][:GROUP]
            raise OSError("gone")

    with pytest.raises(OSError, match="gone"):
        await copy(Broken(), archive.documents, store, FAKE)
    assert not set((await store.adocuments()).values()) & set(archive.documents.values())
    await copy(archive, archive.documents, store, FAKE)
    assert await store.adocuments() == archive.documents
    assert await store.acount() == archive.head.chunks
    await store.aclose()


async def test_a_file_that_is_not_whole_is_refused(tmp_path: Path) -> None:
    """Cut anywhere, or with a byte changed anywhere, it is one clear error, or it still holds the very same."""
    file = await exported(tmp_path, 12)
    content = file.read_bytes()
    whole = [
        (point.chunk_id, point.text, point.dense.tobytes()) async for page in Archive(file).apoints() for point in page
    ]
    draw = random.Random(3)
    for cut in [0, 1, 511, *(draw.randrange(len(content)) for _ in range(60))]:
        file.write_bytes(content[:cut])
        with pytest.raises(InvalidInput, match="Nothing was imported"):
            Archive(file)
    refused = 0
    for _ in range(200):
        at = draw.randrange(len(content))
        file.write_bytes(content[:at] + bytes([content[at] ^ 0x41]) + content[at + 1 :])
        try:
            read = Archive(file)
        except InvalidInput:
            refused += 1
        else:  # the time, or the system, in gzip's header
            assert whole == [(o.chunk_id, o.text, o.dense.tobytes()) async for page in read.apoints() for o in page]
    assert refused > 100


LINE = {
    "chunk_id": "a",
    "text": "b",
    "metadata": {},
    "sparse": {"1": 0.5},
    "dense": np.ones(SIZE, "<f4"),
    "sentences": b"",
}


@pytest.mark.parametrize(
    "change",
    [
        {"chunk_id": ""}, {"text": None}, {"text": 1}, {"metadata": []}, {"sparse": {"one": 0.5}}, {"sparse": [1]},
        {"dense": np.ones(SIZE + 1, "<f4")}, {"dense": b"abc"}, {"dense": np.full(SIZE, np.nan, "<f4")},
        {"sentences": np.ones(SIZE + 1, "<f2")}, {"sentences": 1}, {"path": "../../escaped"},
    ],
)  # fmt: skip
def test_a_line_that_is_no_chunk_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    """A field that is missing, of another type or unknown, and vectors of another size, end in one clear error."""
    file = tmp_path / "odd.gz"

    def write(row: dict[str, object]) -> None:
        encoded = {
            name: b64encode(bytes(its)).decode() if isinstance(its, bytes | np.ndarray) else its
            for name, its in row.items()
        }
        file.write_bytes(gzip.compress(f"{HEAD.model_dump_json()}\n{json.dumps(encoded)}\n".encode()))

    write(LINE)
    assert Archive(file).head.chunks == 1
    write(LINE | change)
    with pytest.raises(InvalidInput, match="Nothing was imported"):
        Archive(file)


@pytest.mark.parametrize("place", ["first", [1], {"at": 1}])
async def test_a_place_that_is_no_number_is_read(tmp_path: Path, place: object) -> None:
    """An archive of another pipeline's chunks is read, whatever their ``chunk_index`` is."""
    (one,) = fruit(1)
    odd = replace(one, metadata={**one.metadata, "chunk_index": place})
    await write_archive(tmp_path / "odd.jsonl.gz", HEAD, pages([odd]))
    assert Archive(tmp_path / "odd.jsonl.gz").documents == {"d0": "h0"}


async def test_another_version_is_named(tmp_path: Path) -> None:
    """A file of a version to come says which it is and which can be read."""
    file = tmp_path / "next.jsonl.gz"
    await write_archive(file, HEAD.model_copy(update={"version": 3}), pages(fruit(3)))
    with pytest.raises(InvalidInput, match="version 3, and this Knowledge Garden reads 2"):
        Archive(file)


async def test_vectors_of_another_size_make_no_collection(tmp_path: Path) -> None:
    """They are of another model, whatever its name: nothing is made that the next ingest would stumble on."""
    (one,) = fruit(1)
    small = np.ones(SIZE // 2, np.float32)
    blank = replace(one, text=" ", dense=small, sentences=np.zeros((0, SIZE // 2), np.float32))
    head = Head(collection="garden", embedding_model="fake", dimension=SIZE // 2)
    await write_archive(tmp_path / "blank.jsonl.gz", head, pages([blank]))
    archive = Archive(tmp_path / "blank.jsonl.gz")
    store = opened(tmp_path / "data")
    with pytest.raises(ConfigurationError, match="EMBEDDING_MODEL=fake"):
        await copy(archive, archive.documents, store, FAKE)
    with pytest.raises(ConfigurationError, match=f"{SIZE} dimensions"):
        await store.aupsert([blank])
    await store.aclose()
    again = opened(tmp_path / "data")
    await again.aupsert(fruit(5))
    assert await again.acount() == 5
    await again.aclose()


async def test_memory_is_bounded(tmp_path: Path) -> None:
    """Eight times the chunks take no more memory to write and to read than a little for their documents' names."""
    some = fruit(GROUP)

    async def many(groups: int) -> AsyncIterator[list[Point]]:
        for _ in range(groups):
            yield some

    async def peak(groups: int) -> int:
        tracemalloc.start()
        await write_archive(tmp_path / "many.jsonl.gz", HEAD, many(groups))
        Archive(tmp_path / "many.jsonl.gz")
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    await peak(1)
    assert await peak(16) < 1.5 * await peak(2)


async def test_into_and_out_of_servers(tmp_path: Path) -> None:
    """Through Qdrant and through a real Chroma server and back: the same chunks; their BM25 weights are made again."""
    there = opened(tmp_path / "there")
    archive = Archive(await exported(tmp_path, 20))
    with QdrantPeer() as peer, ChromaServer(tmp_path / "chroma") as server:
        settings = load_settings(qdrant_url=peer.url, vector_store_timeout_seconds=30)
        qdrant = QdrantStore(EMBEDDING, settings, "garden", SIZE)
        chroma = ChromaStore(EMBEDDING, server.url, "garden", SIZE, seconds=30)
        await copy(archive, archive.documents, qdrant, FAKE)
        await copy(qdrant, await qdrant.adocuments(), chroma, FAKE)
        await write_archive(tmp_path / "chroma.jsonl.gz", HEAD, chroma.apoints())
        back = Archive(tmp_path / "chroma.jsonl.gz")
        assert back.documents == archive.documents == await qdrant.adocuments()
        await copy(back, back.documents, there, FAKE)
        await qdrant.aclose()
        await chroma.aclose()
    here = opened(tmp_path / "here")
    await here.aupsert(fruit(20))
    for text in FRUIT:
        asked = [HybridQuery(question_vector(EMBEDDING, text), (3, 5))]
        first, second = await here.ahybrid(asked, 5), await there.ahybrid(asked, 5)
        pairs = zip(first.candidates[0], second.candidates[0], strict=True)
        assert all((one.chunk, one.sparse) == (other.chunk, other.sparse) for one, other in pairs)
    await here.aclose()
    await there.aclose()
