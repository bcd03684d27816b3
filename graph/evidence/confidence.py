"""How sure one may be that an answer says what its documents say: its sentences' support, read as a probability.

That the documents are right, or that the answer meets the question, is not in it: the first nobody here can know, the
second is for the two gates before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

RELIABILITY = ((0.0, 0.07), (0.3, 0.07), (0.4, 0.55), (0.5, 0.7), (0.6, 0.9), (0.7, 0.99), (1.0, 0.99))
"""(support, share of sentences with that support that their chunk did carry), where half of all sentences were tampered
with: the second table of ``docs/evidence.md``, rounded, and straight lines between."""


def probability(support: float) -> float:
    """The probability in [0, 1] that a sentence with *support* is carried by its source, between measured points."""
    places = [at for at, _ in RELIABILITY]
    i = min(max(1, bisect_left(places, support)), len(places) - 1)
    (left, low), (right, high) = RELIABILITY[i - 1], RELIABILITY[i]
    share = min(1.0, max(0.0, (support - left) / (right - left)))
    return low + share * (high - low)


def confidence_of(supports: Sequence[float]) -> float:
    """The expected share of an answer's sentences that the documents carry; 0 for an answer that states nothing.

    A sentence without a citation counts with what its wording alone says for it, so that an answer is not doubted
    because its model is sparing with markers, but is for what no document says.
    """
    return sum(map(probability, supports)) / len(supports) if supports else 0.0
