"""A kill -9 at any moment of ingest loses no stored document, doubles none, and the next run heals."""

from __future__ import annotations

import json
import random
import time
from pathlib import Path

import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding

from app.ingest.collection_writer import CollectionWriter
from app.ingest.documents import IngestReport
from app.ingest.manifest import IngestManifest
from app.ingest.pipeline import ingest_into
from app.providers.stores.embedded import EmbeddedStore
from tests.support.forked import Forked

SIZE = 8
DOCUMENTS = 120
KILLS = 6
INGEST = f"""
import asyncio, sys
from pathlib import Path
from langchain_core.embeddings import DeterministicFakeEmbedding
from app.ingest.pipeline import ingest_into
from app.ingest.collection_writer import CollectionWriter
from app.ingest.manifest import IngestManifest
from app.providers.stores.embedded import EmbeddedStore

async def main(data, corpus):
    fake = DeterministicFakeEmbedding(size={SIZE})
    store = EmbeddedStore(fake, Path(data), "documents", {SIZE})
    await store.acount()
    print("ready", flush=True)
    manifest = IngestManifest(Path(data) / "documents", [Path(corpus)], prune=True)
    await ingest_into(CollectionWriter(store, fake, "fake"), [Path(corpus)], manifest=manifest)
    await store.aclose()

asyncio.run(main(*sys.argv[1:]))
"""


def write_corpus(path: Path, version: int) -> dict[str, set[str]]:
    """Write a corpus; return chunk ids by document. Versions differ in texts, numbers of chunks and documents."""
    expected: dict[str, set[str]] = {}
    with path.open("w") as file:
        for number in range(version, DOCUMENTS + version):
            for chunk in range(1 + (number * 7 + version * 5) % 9):
                row = {
                    "document_id": f"d{number}",
                    "chunk_id": f"d{number}/{chunk}",
                    "text": f"Version {version}. Words.",
                }
                file.write(json.dumps(row) + "\n")
                expected.setdefault(row["document_id"], set()).add(row["chunk_id"])
    return expected


def kill_after(seconds: float, data: Path, corpus: Path) -> None:
    """Ingest in another process, and kill it so long after it began."""
    with Forked(INGEST, data, corpus) as process:
        assert process.line() == "ready"
        time.sleep(seconds)
        process.kill()
        process.wait()


async def stored(data: Path) -> dict[str, set[str]]:
    """What the collection holds after the process that wrote it is gone."""
    store = EmbeddedStore(DeterministicFakeEmbedding(size=SIZE), data, "documents", SIZE)
    found = {document: set(await store.achunk_hashes(document)) for document in await store.adocuments()}
    assert sum(map(len, found.values())) == await store.acount()
    await store.aclose()
    return found


async def finished(data: Path, corpus: Path) -> IngestReport:
    fake = DeterministicFakeEmbedding(size=SIZE)
    store = EmbeddedStore(fake, data, "documents", SIZE)
    manifest = IngestManifest(data / "documents", [corpus], prune=True)
    report = await ingest_into(CollectionWriter(store, fake, "fake"), [corpus], manifest=manifest)
    await store.aclose()
    return report


@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    ("seed", "versions", "kills"), [(7, 2, KILLS // 2), pytest.param(11, 4, 6, marks=pytest.mark.long)]
)
async def test_kill_at_any_moment(tmp_path: Path, seed: int, versions: int, kills: int) -> None:
    """Killed while it adds, and while it replaces: no document is gone, and the next run makes all as it should be."""
    data, corpus = tmp_path / "data", tmp_path / "corpus.jsonl"
    moments = random.Random(seed)
    before: dict[str, set[str]] = {}
    for version in range(versions):
        expected = write_corpus(corpus, version)
        for _ in range(kills):
            kill_after(moments.uniform(0.0, 1.5), data, corpus)
            left = await stored(data)
            missing = {document for document in before.keys() & expected.keys() if not left.get(document)}
            assert not missing
        await finished(data, corpus)
        assert await stored(data) == expected
        assert (await finished(data, corpus)).unchanged == DOCUMENTS
        before = expected
