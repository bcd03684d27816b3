"""BM25 as a sparse vector: the same stems as everywhere else, one dimension each, weights that need only an idf factor.

A stored weight is the part of BM25 that depends on the document alone, so ``sum(weight * idf)`` over a question's
dimensions is BM25 (Robertson and Zaragoza, 2009, "The Probabilistic Relevance Framework"); the store supplies the idf
(Qdrant: ``Modifier.IDF``). Dimensions are numbered as Qdrant's and fastembed's own BM25 do it, the absolute value of
the signed 32-bit MurmurHash3 of the stem, so a collection they filled can be searched too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import mmh3

from graph.terms import stems

K1 = 0.9
"""Saturation of a term's frequency."""
B = 0.4
"""How much a chunk's length counts."""
AVERAGE_STEMS = 80.0
"""Length, in stems, of the chunk for which length changes nothing. Fixed, so that a stored weight never ages."""


def document_weights(text: str) -> dict[int, float]:
    """Compute the sparse vector of ``layout.indexed_text`` of a chunk: weight per dimension, each in (0, K1 + 1)."""
    found = stems(text)
    length = 1.0 - B + B * len(found) / AVERAGE_STEMS
    weights: dict[int, float] = {}
    for stem, count in Counter(found).items():
        weight = count * (K1 + 1.0) / (count + K1 * length)
        weights[dimension(stem)] = max(weight, weights.get(dimension(stem), 0.0))
    return weights


def highest(terms: Iterable[int], idf: Mapping[int, float]) -> float:
    """The upper bound of BM25 for these dimensions, by which scores are normalised."""
    return (K1 + 1.0) * sum([idf.get(term, 0.0) for term in terms])


def dimension(stem: str) -> int:
    """The dimension of a stem, in 0..2**31."""
    return abs(mmh3.hash(stem))
