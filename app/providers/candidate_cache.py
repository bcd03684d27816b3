"""Decoded candidates, the most recently used ones, within a budget of memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from threading import Lock

from app.providers.hybrid import Candidate

BUDGET = 32 << 20
"""Bytes of vectors and text kept: about 2,500 chunks of six sentences and 384 dimensions."""


class CandidateCache:
    """A candidate by its key; safe for threads. A key must name one state of a point, so that nothing goes stale."""

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget = budget
        self._size = 0
        self._known: OrderedDict[Hashable, Candidate] = OrderedDict()
        self._guard = Lock()

    def find(self, keys: Iterable[Hashable]) -> dict[Hashable, Candidate]:
        """Those of the keys that are known."""
        found = {}
        with self._guard:
            for key in keys:
                if (candidate := self._known.get(key)) is not None:
                    self._known.move_to_end(key)
                    found[key] = candidate
        return found

    def keep(self, candidates: Mapping[Hashable, Candidate]) -> None:
        """Remember these, and forget those unused longest when the budget is spent."""
        with self._guard:
            for key, candidate in candidates.items():
                if key not in self._known:
                    self._known[key] = candidate
                    self._size += _bytes(candidate)
            while self._size > self._budget:
                _, old = self._known.popitem(last=False)
                self._size -= _bytes(old)


def _bytes(candidate: Candidate) -> int:
    dense, sentences, sparse = candidate.dense, candidate.sentences, candidate.sparse
    vectors = sum(array.nbytes for array in (dense, sentences) if array is not None)
    return vectors + (8 * len(sparse.indices) if sparse else 0) + 4 * len(candidate.chunk.text) + 1024
