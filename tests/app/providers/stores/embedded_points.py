"""Points for the tests of the embedded store, drawn from their numbers, and stores over them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import DeterministicFakeEmbedding

from app.providers.stores.embedded import EmbeddedStore
from app.providers.stores.hybrid import HybridQuery
from app.providers.stores.layout import Point

SIZE = 16


def point(number: int, size: int = SIZE, text: str | None = None) -> Point:
    """A chunk of two sentences."""
    rows = np.random.default_rng(number).normal(size=(3, size)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    text = text or f"Chunk {number} is here. It says word{number % 7}."
    spans = [[0, len(text) // 2], [len(text) // 2, len(text)]]
    metadata = {
        "chunk_id": f"c{number}",
        "document_id": f"d{number // 10}",
        "source": f"s{number % 2}",
        "chunk_index": number % 10,
        "spans": spans,
        "content_hash": f"h{number}",
    }
    return Point(f"c{number}", text, metadata, rows[0], rows[1:])


def store_in(
    folder: Path, size: int | None = SIZE, build_from: int = EmbeddedStore.build_from, **options: Any
) -> EmbeddedStore:
    """The collection of the tests."""
    store = EmbeddedStore(DeterministicFakeEmbedding(size=SIZE), folder, "garden", size, **options)
    store.build_from = build_from
    return store


async def found(store: EmbeddedStore, *numbers: int, limit: int = 5) -> list[set[str]]:
    """The ids of the chunks nearest to the vectors of these numbers."""
    hits = await store.ahybrid([HybridQuery(point(number).dense, (), limit) for number in numbers], limit)
    return [{candidate.chunk.chunk_id for candidate in row} for row in hits.candidates]
