"""Hybrid search over an embedded shard: one batch for both channels, and of what they find the best alone is decoded.

Each channel's hits lack the other channel's score, and decoding a point takes longer than scoring it. So where
hits are met for the first time the engine scores them in the channel that did not find them, and what is not among the
best is left where it is.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from itertools import chain
from threading import Lock
from typing import Any

from app.providers.bm25 import highest
from app.providers.edge_memory import EdgeMemory, State
from app.providers.edge_queries import Hit, Vector, Where
from app.providers.edge_shard import Shard
from app.providers.hybrid import Candidate, HybridHits, HybridQuery
from app.providers.memory_cache import MemoryCache

ROUNDING = 3e-4
"""What the engine's scores may differ from ours, of rounded vectors; a hit so near to the best is measured again."""


WEIGHED = 20_000
"""Words whose idf is known; past so many it begins anew, for the words are those of whoever asks."""

MET = 20_000
"""Points of which it is known that they were met before: a second time they are decoded, for a third may come."""


class EdgeSearch:
    """The searching half of one collection; its methods are jobs for the engine's reading threads."""

    def __init__(self) -> None:
        self._memory = EdgeMemory()
        self._passed_over: MemoryCache[None] = MemoryCache(MET, lambda _: 1)
        self._idf: dict[int, float] = {}
        self._idf_writes = -1
        self._guard = Lock()

    def hybrid(
        self, shard: Shard, writes: int, queries: Sequence[HybridQuery], limit: int, where: Where | None
    ) -> HybridHits:
        """See ``HybridStore``. ``writes`` is the engine's count of write jobs."""
        terms = [query.terms if shard.has_sparse else () for query in queries]
        asked = [one for one in terms if one]
        found = shard.search([query.dense for query in queries], asked, limit, where)
        by_term = iter(found[len(queries) :])
        pairs = [(near, next(by_term) if one else []) for one, near in zip(terms, found, strict=False)]
        hits = {hit.id for pair in pairs for hit in chain(*pair)}
        idf = self._statistics(shard, writes, sorted(set(chain.from_iterable(asked))), hits)
        unions = [list(dict.fromkeys([State.of(shard, hit) for hit in chain(*pair)])) for pair in pairs]
        known = self._memory.candidates(list(dict.fromkeys(chain.from_iterable(unions))))
        new = _missing(unions, known)
        if len(self._passed_over.find(new)) < len(new):
            measured = _measured(shard, queries, terms, pairs, idf)
            unions = [_best(shard, *one, limit) for one in zip(pairs, measured, strict=True)]
            self._passed_over.keep(dict.fromkeys(new))
            new = _missing(unions, known)
        if new:
            known |= self._memory.decode(shard, new)
        return HybridHits([[known[state] for state in union if state in known] for union in unions], idf)

    def _statistics(self, shard: Shard, writes: int, terms: Sequence[int], hits: Collection[Any]) -> dict[int, float]:
        """Idf per BM25 dimension, as the engine itself weighs it, asked once per term and state of the collection.

        It shows in any point with the term; one of the *hits* of the search has nearly every term.
        """
        with self._guard:
            if self._idf_writes != writes or len(self._idf) > WEIGHED:
                self._idf, self._idf_writes = {}, writes
            known = self._idf
        missing = [term for term in terms if term not in known]
        if missing:
            heaviest = dict(zip(missing, shard.heaviest(missing, hits), strict=True))
            others = [term for term, best in heaviest.items() if best is None]
            heaviest |= zip(others, shard.heaviest(others), strict=True)
            nowhere = math.log(1.0 + (shard.count() + 0.5) / 0.5) if None in heaviest.values() else 0.0
            known.update((term, best[0] / best[1] if best else nowhere) for term, best in heaviest.items())
        return {term: known[term] for term in terms}


def _missing(unions: Sequence[Sequence[State]], known: Mapping[Hashable, Candidate]) -> list[State]:
    return list(dict.fromkeys([state for state in chain.from_iterable(unions) if state not in known]))


Pair = tuple[Sequence[Hit], Sequence[Hit]]
"""What the dense channel and what BM25 found for one query."""


def _measured(
    shard: Shard,
    queries: Sequence[HybridQuery],
    terms: Sequence[Sequence[int]],
    pairs: Sequence[Pair],
    idf: Mapping[int, float],
) -> list[dict[Any, float]]:
    """Per query the score of each of its hits by id: cosine and BM25 over the highest there could be."""
    crossed: list[tuple[Vector, set[Any]]] = []
    for query, own, (near, worded) in zip(queries, terms, pairs, strict=True):
        by_cosine, by_words = {hit.id for hit in near}, {hit.id for hit in worded}
        crossed += [(query.dense, by_words - by_cosine), (own, by_cosine - by_words)]
    scores = iter(shard.scores(crossed))
    measured = []
    for own, (near, worded) in zip(terms, pairs, strict=True):
        most = highest(own, idf) or 1.0
        cosines = {hit.id: hit.score for hit in near} | next(scores)
        words = {hit.id: hit.score for hit in worded} | next(scores)
        measured.append({id_: cosine + words.get(id_, 0.0) / most for id_, cosine in cosines.items()})
    return measured


def _best(shard: Shard, pair: Pair, measured: Mapping[Any, float], limit: int) -> list[State]:
    """The best *limit* hits of a pair, and those that are as good as the last of them."""
    ranked = sorted(measured.values(), reverse=True)[:limit]
    least = ranked[-1] - ROUNDING if ranked else 0.0
    return list(dict.fromkeys([State.of(shard, hit) for hit in chain(*pair) if measured.get(hit.id, 0.0) >= least]))
