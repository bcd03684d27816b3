"""BM25 weights as sparse vectors."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import qdrant_edge
from hypothesis import given
from hypothesis import strategies as st

from app.providers.bm25 import AVERAGE_STEMS, K1, B, dimension, document_weights, murmur3
from graph.terms import stems

WORDS = ["dogs", "running", "safety", "garden", "ox", "été", "日本語", "x" * 39, "3d"]


@pytest.mark.parametrize("word", WORDS)
def test_dimensions_are_numbered_as_qdrants_own_bm25_does(word: str) -> None:
    assert qdrant_edge.Bm25().embed_query(word).indices == [dimension(stem) for stem in stems(word)]


def test_the_hash_agrees_with_published_values() -> None:
    """From the reference implementation's own test, seed 0."""
    assert murmur3(b"") == 0
    assert murmur3(b"hello") == 0x248BFA47
    assert murmur3(b"hello, world") == 0x149BBB7F
    assert murmur3(b"The quick brown fox jumps over the lazy dog") == 0x2E4FF723


@given(st.text(max_size=200))
def test_weights_are_the_document_part_of_bm25(text: str) -> None:
    counts = Counter(stems(text))
    expected = {
        dimension(stem): n * (K1 + 1) / (n + K1 * (1 - B + B * counts.total() / AVERAGE_STEMS))
        for stem, n in counts.items()
    }
    weights = document_weights(text)
    assert weights == pytest.approx(expected)
    assert all(0 < weight < K1 + 1 and math.isfinite(weight) for weight in weights.values())
