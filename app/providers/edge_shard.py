"""One shard of Qdrant Edge, in our words: the only file that knows how to speak to ``qdrant_edge``.

Everything here is synchronous, and version 0.9 of the engine keeps Python's global lock while it works, so a call stops
every other thread of the process. Calls are therefore short: points go in by small batches, and ``optimize``, which
takes seconds to minutes, is run by ``edge_optimize`` in a process of its own. The engine raises bare ``Exception``.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from app.providers.bm25 import document_weights
from app.providers.edge_config import FILTERED_EF, OVERSAMPLING, SEARCH_EF, edge_config
from app.providers.edge_filter import edge_filter
from app.providers.layout import (
    DENSE,
    INDEXED_FIELDS,
    METADATA,
    SENTENCES,
    SPARSE,
    Point,
    indexed_text,
    payload_of,
    point_id,
    point_of,
)

if TYPE_CHECKING:
    import qdrant_edge as edge

Where = Mapping[str, Any]
Vector = NDArray[np.float32] | Sequence[int]
"""A dense vector, or BM25 dimensions."""

BATCH = 64
"""Points per engine call: about 6 ms during which nothing else runs."""
PAGE = 500
"""Points read at once when the whole collection is walked."""
FULL_PAGE = 64
"""The same with all their vectors, which are some 10 KB a point."""


class Hit(NamedTuple):
    """A point found: its id, the engine's number of the write that made it what it is, and its score."""

    id: Any
    version: int
    score: float


class Shard:
    """An open shard. ``size`` is the dimension of its dense vectors; a channel it does not hold is simply not there."""

    def __init__(self, path: Path) -> None:
        import qdrant_edge as edge

        self.path = path
        self.folder = str(path)
        self._edge = edge
        self._shard = edge.EdgeShard.load(str(path))
        config = json.loads((path / "edge_config.json").read_text(encoding="utf-8"))
        vectors = config.get("vectors", {})
        self.size: int = vectors[DENSE]["size"]
        self.has_sentences = SENTENCES in vectors
        self.has_sparse = SPARSE in config.get("sparse_vectors", {})

    @staticmethod
    def create(path: Path, size: int) -> None:
        """Make an empty shard in the collection layout, with its payload indexes, and close it."""
        import qdrant_edge as edge

        path.parent.mkdir(parents=True, exist_ok=True)
        shard = edge.EdgeShard.create(str(path), edge_config(size))
        for name in INDEXED_FIELDS:
            key = f"{METADATA}.{name}"
            shard.update(edge.UpdateOperation.create_field_index(key, edge.PayloadSchemaType.Keyword))
        shard.flush()
        shard.close()

    def upsert(self, points: Sequence[Point]) -> None:
        """Store at most ``BATCH`` points; when it returns they are in the write-ahead log."""
        self._shard.update(self._edge.UpdateOperation.upsert_points([self._point(point) for point in points]))

    def delete(self, ids: Sequence[Any]) -> None:
        """Delete points by point id; ids that are not there are no error."""
        if ids:
            self._shard.update(self._edge.UpdateOperation.delete_points(list(ids)))

    def copy_from(self, other: Shard, ids: Sequence[str]) -> None:
        """Make these points here what they are in the other shard, or absent when they are absent there."""
        records = other._shard.retrieve(list(ids), True, True)
        self.delete(sorted(set(ids) - {str(record.id) for record in records}))
        points = [self._edge.Point(record.id, record.vector or {}, record.payload) for record in records]
        if points:
            self._shard.update(self._edge.UpdateOperation.upsert_points(points))

    def count(self) -> int:
        """How many points there are; from the shard's own books, for counting them takes 9 ms at 100,000."""
        return int(self._shard.info().points_count)

    def unindexed(self) -> int:
        """How many points a search still goes through one by one."""
        info = self._shard.info()
        built = 1 + self.has_sentences  # the sparse index is always there, and counted
        vectors = int(info.points_count) * (built + self.has_sparse)
        return max(0, vectors - int(info.indexed_vectors_count)) // built

    def walk(self, fields: Sequence[str], where: Where | None = None) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Every matching point's id and the chosen top-level or dotted fields of its payload, page by page."""
        offset: Any = None
        while True:
            page, offset = self._shard.scroll(
                self._edge.ScrollRequest(
                    offset=offset, limit=PAGE, filter=edge_filter(where), with_payload=list(fields), with_vector=False
                )
            )
            for record in page:
                yield record.id, record.payload or {}
            if offset is None:
                return

    def page(self, offset: Any) -> tuple[list[Point], Any]:
        """Some points with all they hold, and where the next are (None: there are none); ``offset`` None begins."""
        wanted = self._edge.ScrollRequest(offset=offset, limit=FULL_PAGE, with_payload=True, with_vector=True)
        found, after = self._shard.scroll(wanted)
        points = []
        for record in found:
            vectors: Any = record.vector or {}
            points.append(
                point_of(
                    str(record.id), record.payload, vectors[DENSE], vectors.get(SENTENCES, ()), vectors.get(SPARSE)
                )
            )
        return points, after

    def search(
        self,
        dense: Sequence[NDArray[np.float32]],
        sparse: Sequence[Sequence[int]],
        limit: int,
        where: Where | None,
        exact: bool = False,
    ) -> list[list[Hit]]:
        """One list of at most ``limit`` hits per dense vector, then one per set of BM25 dimensions, best first.

        ``exact`` goes through every vector, index or not.
        """
        build, condition = self._edge, edge_filter(where)
        by_bytes = build.QuantizationSearchParams(ignore=exact, rescore=True, oversampling=OVERSAMPLING)
        ef, around = (SEARCH_EF, None) if condition is None else (FILTERED_EF, build.AcornSearchParams(True, 1.0))
        how = build.SearchParams(hnsw_ef=ef, exact=exact, quantization=by_bytes, acorn=around)
        vectors: list[Vector] = [*dense, *sparse]
        requests = [
            build.QueryRequest(query=self._nearest(vector), limit=limit, filter=condition, params=how)
            for vector in vectors
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
                only = build.Filter(must=[build.HasIdCondition(set(ids))])
                nearest = self._nearest(vector)
                requests[place] = build.QueryRequest(query=nearest, limit=len(ids), filter=only, params=how)
        answers = self._shard.query_batch(build.QueryBatchRequest(list(requests.values()))) if requests else []
        found = dict(zip(requests, answers, strict=True))
        return [{point.id: point.score for point in found.get(place, ())} for place in range(len(wanted))]

    def heaviest(self, terms: Sequence[int]) -> list[tuple[float, float] | None]:
        """Per BM25 dimension the best point's score and its stored weight there; None where no point has it."""
        build = self._edge
        requests = [build.QueryRequest(query=self._nearest([term]), limit=1, with_vector=[SPARSE]) for term in terms]
        found = self._shard.query_batch(build.QueryBatchRequest(requests))
        return [_weight(points[0], term) if points else None for points, term in zip(found, terms, strict=True)]

    def fetch(self, ids: Sequence[Any], vectors: Sequence[str] = (), payload: bool = True) -> list[edge.Record]:
        """The records of these points, with the named vectors; those that are not there are left out."""
        return list(self._shard.retrieve(list(ids), payload, list(vectors))) if ids else []

    def flush(self) -> None:
        """Write what is only in the write-ahead log to the segments' files."""
        self._shard.flush()

    def close(self) -> None:
        """Flush and close."""
        self._shard.flush()
        self._shard.close()

    def _nearest(self, vector: Vector) -> Any:
        build = self._edge
        if isinstance(vector, np.ndarray):
            return build.Query.Nearest(vector.tolist(), using=DENSE)
        return build.Query.Nearest(build.SparseVector(list(vector), [1.0] * len(vector)), using=SPARSE)

    def _point(self, point: Point) -> edge.Point:
        vector: dict[str, Any] = {DENSE: point.dense.tolist()}
        if self.has_sparse:
            weights = point.sparse
            if weights is None:
                weights = document_weights(indexed_text(point.metadata.get("title"), point.text))
            vector[SPARSE] = self._edge.SparseVector(list(weights), list(weights.values()))
        if self.has_sentences and len(point.sentences):
            vector[SENTENCES] = point.sentences.tolist()
        return self._edge.Point(point_id(point.chunk_id), vector, payload_of(point))


def _weight(point: edge.ScoredPoint, term: int) -> tuple[float, float]:
    vector: Any = point.vector
    return point.score, vector[SPARSE].values[vector[SPARSE].indices.index(term)]
