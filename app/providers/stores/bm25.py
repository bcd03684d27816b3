"""BM25 as a sparse vector: the same stems as everywhere else, one dimension each, weights that need only an idf factor.

A stored weight is the part of BM25 that depends on the document alone, so ``sum(weight * idf)`` over a question's
dimensions is BM25 (Robertson and Zaragoza, 2009, "The Probabilistic Relevance Framework"); the store supplies the idf
(Qdrant: ``Modifier.IDF``). Dimensions are numbered as Qdrant's and fastembed's own BM25 do it, the absolute value of
the signed 32-bit MurmurHash3 of the stem, so a collection they filled can be searched too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

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


@lru_cache(maxsize=1 << 16)
def dimension(stem: str) -> int:
    """The dimension of a stem, in 0..2**31."""
    value = murmur3(stem.encode())
    return 0x1_0000_0000 - value if value >> 31 else value


def murmur3(data: bytes) -> int:
    """MurmurHash3 x86 32-bit, seed 0 (Appleby, 2011, public domain)."""
    state = 0
    body = len(data) & ~3
    for at in range(0, body, 4):
        state ^= _scramble(int.from_bytes(data[at : at + 4], "little"))
        state = (_rotate(state, 13) * 5 + 0xE6546B64) & 0xFFFFFFFF
    if body < len(data):
        state ^= _scramble(int.from_bytes(data[body:], "little"))
    state ^= len(data)
    state = ((state ^ state >> 16) * 0x85EBCA6B) & 0xFFFFFFFF
    state = ((state ^ state >> 13) * 0xC2B2AE35) & 0xFFFFFFFF
    return state ^ state >> 16


def _scramble(block: int) -> int:
    return _rotate(block * 0xCC9E2D51 & 0xFFFFFFFF, 15) * 0x1B873593 & 0xFFFFFFFF


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & 0xFFFFFFFF
