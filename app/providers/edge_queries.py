"""What is asked of an embedded shard: nearest points, scores of given points, and the statistics of words."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.providers.edge_config import FILTERED_EF, FULL_SCAN_KB, OVERSAMPLING, SEARCH_EF
from app.providers.edge_filter import edge_filter
from app.providers.layout import DENSE, INDEXED_FIELDS, SPARSE

if TYPE_CHECKING:
    import qdrant_edge as edge

Where = Mapping[str, Any]
Vector = NDArray[np.float32] | Sequence[int]
"""A dense vector, or BM25 dimensions."""

MOST_SCANNED_KB = 150_000
"""KB of vectors that are gone through one by one under a filter by many rare values, as the documents that somebody may
see; 100,000 chunks of 384 dimensions. HNSW has extra links for the points of one frequent value, and none for a union
of rare ones, in which a search gets stuck: of the ten nearest to a question it found none to nine, depending on the
documents. A scan takes 1.0 to 1.8 times as long as the graph then does; most of either is the filter
(``bench/NOTES.md``)."""
_ANY_OF = (list, tuple, set, frozenset)


class Hit(NamedTuple):
    """A point found: its id, the engine's number of the write that made it what it is, and its score."""

    id: Any
    version: int
    score: float


class EdgeQueries:
    """The questions to an open shard; each is one call of the engine."""

    _edge: Any
    _shard: edge.EdgeShard

    def search(
        self,
        dense: Sequence[NDArray[np.float32]],
        sparse: Sequence[Sequence[int]],
        limit: int,
        where: Where | None,
        exact: bool = False,
    ) -> list[list[Hit]]:
        """One list of at most ``limit`` hits per dense vector, then one per set of BM25 dimensions, best first.

        ``exact`` compares the dense vectors with every one that passes, index or not; so does a filter by many rare
        values (``MOST_SCANNED_KB``). BM25 is always exact.
        """
        build, condition = self._edge, edge_filter(where)
        exact = exact or (bool(dense) and self._is_scanned(where, len(dense[0])))
        by_bytes = build.QuantizationSearchParams(ignore=exact, rescore=True, oversampling=OVERSAMPLING)
        ef, around = (SEARCH_EF, None) if condition is None else (FILTERED_EF, build.AcornSearchParams(True, 1.0))
        how = build.SearchParams(hnsw_ef=ef, exact=exact, quantization=by_bytes, acorn=around)
        wanted: list[tuple[Vector, Any]] = [*((vector, how) for vector in dense), *((terms, None) for terms in sparse)]
        requests = [
            build.QueryRequest(query=self._nearest(vector), limit=limit, filter=condition, params=params)
            for vector, params in wanted
        ]
        found = self._shard.query_batch(build.QueryBatchRequest(requests))
        return [[Hit(point.id, point.version, point.score) for point in points] for points in found]

    def scores(self, wanted: Sequence[tuple[Vector, Collection[Any]]]) -> list[dict[Any, float]]:
        """Per dense vector, or set of BM25 dimensions, the scores of the points of these ids that have one, by id."""
        build = self._edge
        how = build.SearchParams(exact=True, quantization=build.QuantizationSearchParams(ignore=True))
        requests = {}
        for place, (vector, ids) in enumerate(wanted):
            if len(ids) and len(vector):
                requests[place] = build.QueryRequest(
                    query=self._nearest(vector), limit=len(ids), filter=self._only(ids), params=how
                )
        answers = self._shard.query_batch(build.QueryBatchRequest(list(requests.values()))) if requests else []
        found = dict(zip(requests, answers, strict=True))
        return [{point.id: point.score for point in found.get(place, ())} for place in range(len(wanted))]

    def heaviest(self, terms: Sequence[int], ids: Collection[Any] | None = None) -> list[tuple[float, float] | None]:
        """Per BM25 dimension the best point's score and its stored weight there; None where no point has it.

        Of all points, or of those of these ids, which takes less than going through all that have the word.
        """
        build = self._edge
        how: Any = {"limit": 1, "with_vector": [SPARSE], "filter": None if ids is None else self._only(ids)}
        requests = [build.QueryRequest(query=self._nearest([term]), **how) for term in terms]
        found = self._shard.query_batch(build.QueryBatchRequest(requests)) if requests else []
        return [_weight(points[0], term) if points else None for points, term in zip(found, terms, strict=True)]

    def _is_scanned(self, where: Where | None, size: int) -> bool:
        """Whether a filter names values of an indexed field with few points each, and not too many points in all.

        By the engine's estimate: of other fields it has none.
        """
        for name, values in (where or {}).items():
            if name in INDEXED_FIELDS and isinstance(values, _ANY_OF) and all(isinstance(one, str) for one in values):
                named = self._edge.CountRequest(filter=edge_filter({name: values}), exact=False)
                kb = int(self._shard.count(named)) * size * 4 / 1024
                return kb <= min(len(values) * FULL_SCAN_KB, MOST_SCANNED_KB)
        return False

    def _only(self, ids: Collection[Any]) -> Any:
        return self._edge.Filter(must=[self._edge.HasIdCondition(set(ids))])

    def _nearest(self, vector: Vector) -> Any:
        build = self._edge
        if isinstance(vector, np.ndarray):
            return build.Query.Nearest(vector.tolist(), using=DENSE)
        return build.Query.Nearest(build.SparseVector(list(vector), [1.0] * len(vector)), using=SPARSE)


def _weight(point: edge.ScoredPoint, term: int) -> tuple[float, float]:
    vector: Any = point.vector
    return point.score, vector[SPARSE].values[vector[SPARSE].indices.index(term)]
