"""BM25 weights as sparse vectors."""

from __future__ import annotations

import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from answering.text.terms import stems
from app.providers.stores.hybrid import AVERAGE_STEMS, K1, B, dimension, document_weights

DIMENSIONS = [
    ("dogs", [1312749093]),
    ("running", [243905464]),
    ("safety", [344218078]),
    ("garden", [1232744358]),
    ("ox", [1250437857]),
    ("été", [865297935]),
    ("x" * 39, [1862596365]),
    ("3d", [1320850453]),
]
"""What Qdrant's own BM25 (qdrant-edge 0.9) numbers the stems of a text."""


@pytest.mark.parametrize(("word", "expected"), DIMENSIONS)
def test_dimensions_are_numbered_as_qdrants_own_bm25_does(word: str, expected: list[int]) -> None:
    """A term's dimension is the number that Qdrant's own BM25 gives it."""
    assert [dimension(stem) for stem in stems(word)] == expected


def test_a_term_of_a_script_without_spaces_has_qdrants_number_too() -> None:
    """Qdrant takes such a run of letters for one term; we take its pairs, each numbered in the same way."""
    assert dimension("日本語") == 1515949417
    assert stems("日本語") == ("日本", "本語")


@given(st.text(max_size=200))
def test_weights_are_the_document_part_of_bm25(text: str) -> None:
    """A term's weight is BM25's document factor."""
    counts = Counter(stems(text))
    expected = {
        dimension(stem): n * (K1 + 1) / (n + K1 * (1 - B + B * counts.total() / AVERAGE_STEMS))
        for stem, n in counts.items()
    }
    weights = document_weights(text)
    assert weights == pytest.approx(expected)
    assert all(0 < weight < K1 + 1 and math.isfinite(weight) for weight in weights.values())
