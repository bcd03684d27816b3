"""Hybrid search over an embedded shard: one batch for both channels, and a memory for what was decoded before.

Reading the vectors of 20 chunks out of the engine and into numpy takes longer than finding them (2 ms against 1), and
questions meet the same chunks again and again. So decoded candidates are kept, keyed by the point and the write that
made it what it is: a changed point has another key, and nothing is ever stale.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import chain, starmap
from struct import Struct
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from app.providers.bm25 import sparse_vector
from app.providers.candidate_cache import CandidateCache
from app.providers.edge_shard import Hit, Shard, Where
from app.providers.hybrid import Candidate, HybridHits, HybridQuery
from app.providers.layout import DENSE, SENTENCES, SPARSE
from app.providers.payloads import chunk_from_payload

if TYPE_CHECKING:
    import qdrant_edge as edge


class EdgeSearch:
    """The searching half of one collection; its methods are jobs for the engine's reading threads."""

    def __init__(self) -> None:
        self._cache = CandidateCache()
        self._idf: dict[int, float] = {}
        self._idf_writes = -1
        self._guard = Lock()

    def hybrid(
        self, shard: Shard, writes: int, queries: Sequence[HybridQuery], limit: int, where: Where | None
    ) -> HybridHits:
        """The union of both channels for every query. ``writes`` is the engine's count of write jobs."""
        sparse = [query.terms if shard.has_sparse else () for query in queries]
        asked = [terms for terms in sparse if terms]
        found = shard.search([query.dense for query in queries], asked, limit, where)
        keyword = iter(found[len(queries) :])
        unions = [
            {hit.id: hit for hit in chain(found[at], next(keyword) if terms else ())} for at, terms in enumerate(sparse)
        ]
        candidates = self._decoded(shard, {key: hit for union in unions for key, hit in union.items()})
        terms = sorted(set(chain.from_iterable(asked)))
        return HybridHits(
            [[candidates[key] for key in union if key in candidates] for union in unions],
            self._statistics(shard, writes, terms),
        )

    def _decoded(self, shard: Shard, hits: dict[Any, Hit]) -> dict[Any, Candidate]:
        """The candidates of these hits by point id; a point deleted meanwhile is left out."""
        keys: dict[Any, Hashable] = {at: (shard.path, at, hit.version) for at, hit in hits.items()}
        cached = self._cache.find(keys.values())
        known = {at: cached[key] for at, key in keys.items() if key in cached}
        missing = [at for at in hits if at not in known]
        fetched = {record.id: _candidate(record, shard.size) for record in shard.fetch(missing, vectors=True)}
        self._cache.keep({keys[at]: candidate for at, candidate in fetched.items()})
        return known | fetched

    def _statistics(self, shard: Shard, writes: int, terms: Sequence[int]) -> dict[int, float]:
        """Idf per BM25 dimension, as the engine itself weighs it, asked once per term and state of the collection."""
        with self._guard:
            if self._idf_writes != writes:
                self._idf, self._idf_writes = {}, writes
            known = self._idf
        missing = [term for term in terms if term not in known]
        if missing:
            total = shard.count()
            for term, heaviest in zip(missing, shard.heaviest(missing), strict=True):
                known[term] = heaviest[0] / heaviest[1] if heaviest else math.log(1.0 + (total + 0.5) / 0.5)
        return {term: known[term] for term in terms}


def _candidate(record: edge.Record, size: int) -> Candidate:
    vectors: Any = record.vector or {}
    dense, sparse = vectors.get(DENSE), vectors.get(SPARSE)
    return Candidate(
        chunk=chunk_from_payload(str(record.id), record.payload),
        dense=None if dense is None else np.array(dense, np.float32),
        sparse=None if sparse is None else sparse_vector(zip(sparse.indices, sparse.values, strict=True)),
        sentences=_matrix(vectors[SENTENCES], size) if SENTENCES in vectors else None,
    )


def _matrix(rows: Sequence[Sequence[float]], size: int) -> NDArray[np.float32]:
    """Rows of Python floats as float32 [n, size]; twice as fast as ``np.array``."""
    packed = b"".join(starmap(Struct(f"{size}f").pack, rows))
    return np.frombuffer(packed, np.float32).reshape(-1, size)
