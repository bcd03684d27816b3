"""One shard of Qdrant Edge, in our words: points go in and come out; ``edge_queries`` has what is asked of them.

Everything here is synchronous, and version 0.9 of the engine keeps Python's global lock while it works, so a call stops
every other thread of the process. Calls are therefore short: points go in by small batches, and ``optimize``, which
takes seconds to minutes, is run by ``edge_optimize`` in a process of its own. The engine raises bare ``Exception``.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.providers.bm25 import document_weights
from app.providers.edge_config import edge_config
from app.providers.edge_filter import edge_filter
from app.providers.edge_queries import EdgeQueries, Where
from app.providers.layout import (
    DENSE,
    INDEXED_FIELDS,
    METADATA,
    SENTENCES,
    SPARSE,
    Point,
    indexed_text_of,
    payload_of,
    point_id,
    point_of,
)

if TYPE_CHECKING:
    import qdrant_edge as edge

BATCH = 64
"""Points per engine call: about 6 ms during which nothing else runs."""
PAGE = 500
"""Points read at once when the whole collection is walked."""
FULL_PAGE = 64
"""The same with all their vectors, which are thousands of Python floats."""


class Shard(EdgeQueries):
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

    def fetch(
        self, ids: Sequence[Any], vectors: Sequence[str] = (), payload: bool | list[str] = True
    ) -> list[edge.Record]:
        """The records of these points, with the named vectors, and fields; those that are not there are left out."""
        return list(self._shard.retrieve(list(ids), payload, list(vectors))) if ids else []

    def flush(self) -> None:
        """Write what is only in the write-ahead log to the segments' files."""
        self._shard.flush()

    def close(self) -> None:
        """Flush and close."""
        self._shard.flush()
        self._shard.close()

    def _point(self, point: Point) -> Any:
        vector: dict[str, Any] = {DENSE: point.dense.tolist()}
        if self.has_sparse:
            weights = point.sparse
            if weights is None:
                weights = document_weights(indexed_text_of(point.metadata, point.text))
            vector[SPARSE] = self._edge.SparseVector(list(weights), list(weights.values()))
        if self.has_sentences and len(point.sentences):
            vector[SENTENCES] = point.sentences.tolist()
        return self._edge.Point(point_id(point.chunk_id), vector, payload_of(point))
