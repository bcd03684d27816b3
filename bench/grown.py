"""A collection grown far past its real chunks, for measuring at sizes nobody embeds for a benchmark.

Each further chunk has the words of a real one, and vectors that are a real one's with noise, so that it competes for
every question. All of them are written through the store's own interface.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from app.providers.embeddings.vectors import Vectors
from app.providers.stores.embedded import EmbeddedStore
from app.providers.stores.layout import Point

NEAR, FAR = 0.4, 0.9
"""Cosines of a grown chunk's vector with the real one it is made from."""
HALF = "half.md"
"""A source that the first grown chunks have, one made from each real one, and half of the others: so it holds as many
answers among a thousand chunks as among a million."""


async def grow(store: EmbeddedStore, points: Sequence[Point], there: int, size: int) -> dict[str, float]:
    """Write further chunks until there are *size*, and let the store build its indexes if it wants to."""
    chance = np.random.default_rng(there)
    begun = time.perf_counter()
    writing = 0.0
    for start in range(there, size, 512):
        batch = [
            grown_point(points[at % len(points)], at, at % 2 == 1 or at < 2 * len(points), chance)
            for at in range(start, min(start + 512, size))
        ]
        before = time.perf_counter()
        await store.aupsert(batch)
        writing += time.perf_counter() - before
    before = time.perf_counter()
    await store.aflush()
    await store.aoptimize()
    indexing = time.perf_counter() - before
    written = max(0, size - there)
    return {
        "written a second, chunks": written / writing if writing else float("nan"),
        "indexing at the end, s": indexing,
        "seconds in all": time.perf_counter() - begun,
    }


def grown_point(real: Point, number: int, in_half: bool, chance: np.random.Generator) -> Point:
    """The *number*-th chunk: *real*'s words, vectors near *real*'s, ids of its own, eight chunks a document."""
    source = HALF if in_half else f"grown-{number // 8}.md"
    own = {"chunk_id": f"grown-{number}", "document_id": f"grown-{number // 8}", "source": source}
    near = chance.uniform(NEAR, FAR)
    return replace(
        real,
        chunk_id=own["chunk_id"],
        metadata={**real.metadata, **own},
        dense=noisy(real.dense[None], near, chance)[0],
        sentences=noisy(real.sentences, near, chance),
    )


def noisy(rows: Vectors, cosine: float, chance: np.random.Generator) -> Vectors:
    """Unit rows at about *cosine* from the given ones."""
    noise = chance.standard_normal(rows.shape, dtype=np.float32)
    noise /= np.linalg.norm(noise, axis=1, keepdims=True)
    mixed = cosine * rows + np.sqrt(1 - cosine**2, dtype=np.float32) * noise
    scaled: Vectors = (mixed / np.linalg.norm(mixed, axis=1, keepdims=True)).astype(np.float32)
    return scaled
