"""A collection grown for measuring: as many chunks as asked for, near the real ones, and found by an honest measure."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from langchain_core.embeddings import DeterministicFakeEmbedding

from app.providers.embeddings.vectors import Vectors
from app.providers.stores.embedded import EmbeddedStore
from bench.grown import FAR, HALF, NEAR, grow, noisy
from bench.scale_questions import measure_recall
from tests.app.providers.stores.embedded_points import SIZE, point


def cosines(rows: Vectors, others: Vectors) -> Vectors:
    """Row by row, of unit rows."""
    found: Vectors = np.sum(rows * others, axis=1)
    return found


def test_noise_keeps_its_distance() -> None:
    """The rows are of length 1, and at about the wanted cosine from those they are made from."""
    chance = np.random.default_rng(1)
    rows = chance.normal(size=(200, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for wanted in (NEAR, FAR):
        made = noisy(rows, wanted, chance)
        assert np.allclose(np.linalg.norm(made, axis=1), 1.0, atol=1e-5)
        assert np.abs(cosines(made, rows) - wanted).max() < 0.15


async def test_a_collection_grows_to_its_size(tmp_path: Path) -> None:
    """No chunk takes another's place, half of all share a source, and growing on goes on where it ended."""
    store = EmbeddedStore(DeterministicFakeEmbedding(size=SIZE), tmp_path, "garden", SIZE)
    real = [point(number) for number in range(20)]
    await store.aupsert(real)
    for there, size in ((20, 60), (60, 101)):
        told = await grow(store, real, there, size)
        assert await store.acount() == size
        assert told["written a second, chunks"] > 0
    points = [one async for page in store.apoints() for one in page]
    assert len({one.chunk_id for one in points}) == 101
    assert sum(one.metadata.get("source") == HALF for one in points) == 50
    assert {one.text for one in points} == {one.text for one in real}
    await store.aclose()


async def test_recall_is_told_against_a_search_of_everything(tmp_path: Path) -> None:
    """Without an index nothing is missed."""
    store = EmbeddedStore(DeterministicFakeEmbedding(size=SIZE), tmp_path, "garden", SIZE)
    await store.aupsert([point(number) for number in range(50)])
    assert await measure_recall(store, [point(number).dense for number in range(5)], None) == 1.0
    await store.aclose()
