"""A collection grown for measuring: as many chunks as asked for, near the real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from langchain_core.embeddings import DeterministicFakeEmbedding

from app.providers.stores.embedded import EmbeddedStore
from bench.scale import FAR, NEAR, grow, noisy
from tests.app.providers.stores.embedded_points import SIZE, point


def test_noise_keeps_its_distance() -> None:
    """The rows are of length 1, and at about the wanted cosine from those they are made from."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(200, 384)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    for wanted in (NEAR, FAR):
        made = noisy(rows, wanted, rng)
        assert np.allclose(np.linalg.norm(made, axis=1), 1.0, atol=1e-5)
        assert np.abs(np.vecdot(made, rows) - wanted).max() < 0.15


async def test_a_collection_grows_to_its_size(tmp_path: Path) -> None:
    """No chunk takes another's place, and growing on goes on where it ended."""
    store = EmbeddedStore(DeterministicFakeEmbedding(size=SIZE), tmp_path, "garden", SIZE)
    real = [point(number) for number in range(20)]
    await store.aupsert(real)
    for size in (60, 101):
        figures = await grow(store, real, size)
        assert await store.acount() == size
        assert figures["written a second, chunks"] > 0
    points = [point async for page in store.apoints() for point in page]
    assert len({point.chunk_id for point in points}) == 101
    assert {point.text for point in points} == {point.text for point in real}
    await store.aclose()
