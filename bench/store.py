"""What a stored chunk takes: ``python -m bench.store [--chunks N]``; bytes on disk in the embedded store and exported.

Chunks are like those of the sample garden (their texts, over and over, each with a number of its own), vectors are
random: sizes do not depend on them. Nothing is embedded, so a hundred thousand chunks take minutes, not hours.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from langchain_core.embeddings import DeterministicFakeEmbedding

from app.ingest.documents import LoadedDocument, SplitDocument
from app.ingest.find import FoundFile, find_files
from app.ingest.loaders.table import load_file
from app.ingest.split import split_document
from app.ingest.transfer.archive import Head, write_archive
from app.providers.embeddings.vectors import unit
from app.providers.stores.embedded import EmbeddedStore
from app.providers.stores.hybrid import HybridQuery
from app.providers.stores.layout import Point
from bench.corpus import ROOT

SIZE = 384
BATCH = 512


def main() -> None:
    """Measure and print one JSON object."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--chunks", type=int, default=20_000)
    print(json.dumps(asyncio.run(measure(options.parse_args().chunks)), indent=2))


async def measure(count: int) -> dict[str, float]:
    """Fill a store with so many chunks."""
    found = [file for file in find_files([ROOT / "knowledge"]) if isinstance(file, FoundFile)]
    loaded = [one for file in found for one in load_file(file.path, file.source) if isinstance(one, LoadedDocument)]
    split = [one for document in loaded for one in split_document(document) if isinstance(one, SplitDocument)]
    chunks = [chunk for document in split for chunk in document.chunks]
    with tempfile.TemporaryDirectory(prefix="garden-store-") as folder:
        store = EmbeddedStore(DeterministicFakeEmbedding(size=SIZE), Path(folder), "garden", SIZE)
        draw = np.random.default_rng(1)
        begun = time.perf_counter()
        for at in range(0, count, BATCH):
            await store.aupsert([point(chunks, n, draw) for n in range(at, min(at + BATCH, count))])
        stored = time.perf_counter() - begun
        await store.aflush()
        begun = time.perf_counter()
        await store.aoptimize()
        optimized = time.perf_counter() - begun
        query = [HybridQuery(unit(draw.standard_normal(SIZE)), (3, 5, 7))]
        times = []
        for _ in range(50):
            begun = time.perf_counter()
            await store.ahybrid(query, 20)
            times.append(time.perf_counter() - begun)
        file = Path(folder) / "export.zip"
        begun = time.perf_counter()
        await write_archive(file, Head(collection="g", embedding_model="m", dimension=SIZE), store.apoints())
        exported = time.perf_counter() - begun
        await store.aclose()
        used = on_disk(Path(folder, "garden"))
        return {
            "chunks": count,
            "sentences a chunk": round(sum(len(chunk.spans) for chunk in chunks) / len(chunks), 1),
            "characters a chunk": round(sum(len(chunk.text) for chunk in chunks) / len(chunks)),
            "store, bytes a chunk": round(used / count),
            "export, bytes a chunk": round(file.stat().st_size / count),
            "written, chunks a second": round(count / stored),
            "exported, chunks a second": round(count / exported),
            "index built, s": round(optimized, 1),
            "one hybrid search, ms": round(1000 * float(np.median(times)), 1),
        }


def on_disk(folder: Path) -> int:
    """Bytes the files of a folder take, their holes not counted."""
    return sum(path.stat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def point(chunks: Sequence[object], number: int, draw: np.random.Generator) -> Point:
    """A chunk of the sample garden under another number."""
    chunk = chunks[number % len(chunks)]
    text = f"{chunk.text} {number}"  # type: ignore[attr-defined]
    spans = chunk.spans  # type: ignore[attr-defined]
    metadata = {
        "chunk_id": f"d{number}#0",
        "document_id": f"d{number}",
        "title": "A sample",
        "source": f"d{number}",
        "chunk_index": 0,
        "content_hash": "0" * 64,
        "spans": [list(span) for span in spans],
    }
    rows = unit(draw.standard_normal((1 + len(spans), SIZE)))
    return Point(f"d{number}#0", text, metadata, rows[0], rows[1:])


if __name__ == "__main__":
    main()
