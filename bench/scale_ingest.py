"""What an ingest takes beyond its embedding: the same texts in the same batches, whole and embedded alone, in turns.

Several times, for within the seconds that one takes machines change their pace by more than what is to be measured.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from app.ingest.pipeline import ingest
from app.providers.embeddings.minilm import MiniLMEmbeddings
from app.providers.embeddings.weights import find_weights
from app.providers.stores.embedded import EmbeddedStore
from app.providers.stores.layout import Point
from app.settings import load_settings

TIMES = 5
"""Ingests, each followed by its embedding alone; the figures are the medians."""


class Replayed(MiniLMEmbeddings):
    """Remembers every batch of documents it embedded."""

    batches: list[list[str]]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """``MiniLMEmbeddings.aembed_documents``, remembered."""
        self.batches.append(list(texts))
        return await super().aembed_documents(texts)


class Watched(EmbeddedStore):
    """Remembers every point it stored."""

    stored: list[Point]

    async def aupsert(self, points: Sequence[Point]) -> None:
        """``EmbeddedStore.aupsert``, remembered."""
        self.stored.extend(points)
        await super().aupsert(points)


async def measure_ingest(file: Path, folder: Path) -> tuple[dict[str, float], list[Point]]:
    """Ingest *file* into a new collection as often as ``TIMES``, the first in ``folder/garden``.

    Returns the figures, and the points that one ingest stored.
    """
    embeddings = Replayed(find_weights())
    embeddings.batches = []
    await embeddings.aembed_documents(["warm up"])
    whole, alone = [], []
    for turn in range(TIMES):
        there = folder / (f"garden-{turn}" if turn else "garden")
        store = Watched(embeddings, there, load_settings().vector_store_collection, embeddings.dimension)
        store.stored = []
        embeddings.batches.clear()
        begun = _now()
        await ingest([file], store=store, embeddings=embeddings, model_name=embeddings.model_name)
        whole.append(_since(begun))
        await store.aclose()
        batches = list(embeddings.batches)
        begun = _now()
        for batch in batches:
            await embeddings.aembed_documents(batch)
        alone.append(_since(begun))
    embeddings.close()
    pairs = list(zip(whole, alone, strict=True))
    speed = [without[0] / ingested[0] for ingested, without in pairs]
    points = list({point.chunk_id: point for point in store.stored}.values())
    figures = {
        "chunks": len(points),
        "texts embedded": sum(map(len, batches)),
        "ingest, chunks a second": len(points) / median(seconds for seconds, _ in whole),
        "embedding alone, chunks a second": len(points) / median(seconds for seconds, _ in alone),
        "ingest over embedding alone, chunks a second": median(speed),
        "the same, least": min(speed),
        "the same, most": max(speed),
        "ingest over embedding alone, CPU time": median(ingested[1] / without[1] for ingested, without in pairs),
    }
    return figures, points


def _now() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(begun: tuple[float, float]) -> tuple[float, float]:
    return time.perf_counter() - begun[0], time.process_time() - begun[1]
