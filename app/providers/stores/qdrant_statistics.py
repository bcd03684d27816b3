"""Inverse document frequencies of a Qdrant collection, as the server itself weighs them.

It has no request for them. But the score of a sparse query of one term is the stored weight times the idf, so the best
hit of such a query, with its vector, tells the idf exactly. On several shards each has its own; the best hit's counts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping

REMEMBERED_SECONDS = 60.0
"""For which an idf is taken as unchanged: others may write into the collection at any time."""
REMEMBERED_TERMS = 20_000
MOST_ASKED = 64
"""Terms asked for one question; those past it count as the rarest, which longer words of long questions mostly are."""


class Statistics:
    """What is known of the idf of terms, for a while. Used on one event loop, or on one after the other."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[int, tuple[float, float]] = {}

    def missing(self, terms: Iterable[int]) -> list[int]:
        """Those of the terms that must be asked for, each once, at most ``MOST_ASKED``."""
        now = self._clock()
        fresh = (term for term in dict.fromkeys(terms) if self._known.get(term, (0.0, -1.0))[1] < now)
        return list(fresh)[:MOST_ASKED]

    def keep(self, found: Mapping[int, float]) -> None:
        """Remember these for ``REMEMBERED_SECONDS``."""
        if len(self._known) + len(found) > REMEMBERED_TERMS:
            self._known.clear()
        until = self._clock() + REMEMBERED_SECONDS
        self._known.update((term, (idf, until)) for term, idf in found.items())

    def idf(self, terms: Iterable[int]) -> dict[int, float]:
        """The idf of the terms; of those never asked for, the highest that is known."""
        rarest = max((idf for idf, _ in self._known.values()), default=0.0)
        return {term: self._known.get(term, (rarest, 0.0))[0] for term in terms}


def idf_nowhere(count: int) -> float:
    """The idf of a term that no chunk of *count* has: ``ln(1 + (N + .5) / .5)``."""
    return math.log(1.0 + (count + 0.5) / 0.5)
