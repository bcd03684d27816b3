"""What an ingest takes beyond its embedding: the same texts in the same batches, whole and embedded alone, in turns.

A few seconds of each at a time, for within the half minute that one whole ingest takes machines change their pace by
more than what is to be measured.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

from app.ingest.pipeline import ingest
from app.providers.edge_store import EdgeVectorStore
from app.providers.layout import Point
from app.providers.minilm import MiniLMEmbeddings
from app.providers.vectors import Vectors
from app.providers.weights import find_weights
from app.settings import load_settings
from bench.corpus import Corpus

PARTS = 8
"""Ingests that the corpus is cut into; each is the ingest of one file."""


class Replayed(MiniLMEmbeddings):
    """Remembers every batch of documents it embedded."""

    batches: list[list[str]]

    async def aembed_array(self, texts: Sequence[str]) -> Vectors:
        """``MiniLMEmbeddings.aembed_array``, remembered."""
        self.batches.append(list(texts))
        return await super().aembed_array(texts)


class Watched(EdgeVectorStore):
    """Remembers every point it stored."""

    stored: list[Point]

    async def aupsert(self, points: Sequence[Point]) -> None:
        """``EdgeVectorStore.aupsert``, remembered."""
        self.stored.extend(points)
        await super().aupsert(points)


async def measure_ingest(corpus: Corpus, folder: Path) -> tuple[dict[str, float], list[Point]]:
    """Ingest *corpus* into ``folder/garden`` part by part; the figures, and the points that were stored."""
    embeddings = Replayed(find_weights())
    embeddings.batches = []
    await embeddings.aembed_array(["warm up"])
    store = Watched(embeddings, folder / "garden", load_settings().vector_store_collection, embeddings.dimension)
    store.stored = []
    texts, whole, alone = 0, [], []
    for number, part in enumerate(parts(corpus)):
        file = folder / f"part-{number}.jsonl"
        part.write(file)
        embeddings.batches.clear()
        begun = _now()
        await ingest([file], store=store, embeddings=embeddings, model_name=embeddings.model_name)
        whole.append(_since(begun))
        batches = list(embeddings.batches)
        texts += sum(map(len, batches))
        begun = _now()
        for batch in batches:
            await embeddings.aembed_array(batch)
        alone.append(_since(begun))
    await store.aclose()
    embeddings.close()
    clock, cpu = ([a[at] / w[at] for a, w in zip(alone, whole, strict=True)] for at in (0, 1))
    figures = {
        "chunks": len(store.stored),
        "texts embedded": texts,
        "ingest, chunks a second": len(store.stored) / sum(seconds for seconds, _ in whole),
        "embedding alone, chunks a second": len(store.stored) / sum(seconds for seconds, _ in alone),
        "ingest over embedding alone, chunks a second, median": median(clock),
        "least": min(clock),
        "most": max(clock),
        "embedding alone over ingest, CPU time, median": median(cpu),
    }
    return figures, list({point.chunk_id: point for point in store.stored}.values())


def parts(corpus: Corpus) -> Iterator[Corpus]:
    """The corpus in ``PARTS`` of about as many chunks, of whole documents each."""
    rows: list[dict[str, str]] = []
    for at, row in enumerate(corpus.rows):
        if rows and len(rows) >= len(corpus.rows) / PARTS and row["document_id"] != corpus.rows[at - 1]["document_id"]:
            yield Corpus(rows, [])
            rows = []
        rows.append(row)
    yield Corpus(rows, [])


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(begun: tuple[float, float]) -> tuple[float, float]:
    return time.perf_counter() - begun[0], time.process_time() - begun[1]
