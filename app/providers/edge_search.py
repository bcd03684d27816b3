"""Hybrid search over an embedded shard: one batch for both channels, and a memory for what was decoded before.

Getting the vectors of 40 candidates out of the engine and into numpy takes longer than finding them, and questions meet
the same chunks again and again. So what was decoded is kept, keyed by the point and the write that made it what it is:
a changed point has another key, and nothing is ever stale.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from itertools import chain, starmap
from struct import Struct
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.providers.edge_shard import Hit, Shard, Where
from app.providers.hybrid import Candidate, HybridHits, HybridQuery
from app.providers.layout import DENSE, SENTENCES, SPARSE
from app.providers.memory_cache import MemoryCache
from app.providers.payloads import chunk_from_payload

if TYPE_CHECKING:
    import qdrant_edge as edge

Matrix = NDArray[np.float32]

REMEMBERED_BYTES = 24 << 20
"""For candidates, and as much again for sentences: 2,500 chunks of 384 dimensions and six sentences."""


class State(NamedTuple):
    """A point as one write left it: the shard's folder, the point, the number of the write.

    ``point`` is the number that its id is, or that its UUID stands for: a ``UUID`` is hashed by Python code, and a
    question looks up hundreds.
    """

    shard: str
    point: int
    is_uuid: bool
    version: int

    @classmethod
    def of(cls, shard: Shard, hit: Hit) -> State:
        """The state in which *hit* was found."""
        is_uuid = isinstance(hit.id, UUID)
        return cls(shard.folder, hit.id.int if is_uuid else hit.id, is_uuid, hit.version)

    @property
    def id(self) -> UUID | int:
        """The point's id as the engine has it."""
        return UUID(int=self.point) if self.is_uuid else self.point


class EdgeSearch:
    """The searching half of one collection; its methods are jobs for the engine's reading threads."""

    def __init__(self) -> None:
        self._candidates: MemoryCache[Candidate] = MemoryCache(REMEMBERED_BYTES, _bytes)
        self._sentences: MemoryCache[Matrix] = MemoryCache(REMEMBERED_BYTES, lambda matrix: matrix.nbytes)
        self._idf: dict[int, float] = {}
        self._idf_writes = -1
        self._guard = Lock()

    def hybrid(
        self, shard: Shard, writes: int, queries: Sequence[HybridQuery], limit: int, where: Where | None
    ) -> HybridHits:
        """The union of both channels for every query. ``writes`` is the engine's count of write jobs."""
        terms = [query.terms if shard.has_sparse else () for query in queries]
        asked = [one for one in terms if one]
        found = shard.search([query.dense for query in queries], asked, limit, where)
        by_term = iter(found[len(queries) :])
        unions: list[list[State]] = []
        for one, nearest in zip(terms, found, strict=False):
            hits = chain(nearest, next(by_term) if one else ())
            unions.append(list(dict.fromkeys([State.of(shard, hit) for hit in hits])))
        known = self._decoded(shard, list(dict.fromkeys(chain.from_iterable(unions))))
        return HybridHits(
            [[known[state] for state in union if state in known] for union in unions],
            self._statistics(shard, writes, sorted(set(chain.from_iterable(asked)))),
        )

    def remembered(self, candidates: Sequence[Candidate]) -> dict[Hashable, Matrix]:
        """The sentence vectors that are at hand without the shard, by key."""
        return self._sentences.find(candidate.key for candidate in candidates)

    def sentences(self, shard: Shard, candidates: Sequence[Candidate]) -> dict[Hashable, Matrix]:
        """The sentence vectors, float32 [n, d], of those candidates that have them, by key."""
        found = self.remembered(candidates)
        wanted: dict[Any, State] = {
            one.key.id: one.key for one in candidates if one.key not in found and isinstance(one.key, State)
        }
        if not shard.has_sentences or not wanted:
            return found
        records = shard.fetch(list(wanted), [SENTENCES], payload=False)
        made: dict[Hashable, Matrix] = {
            wanted[record.id]: _matrix(rows, shard.size)
            for record in records
            if (rows := _vectors(record).get(SENTENCES)) is not None
        }
        self._sentences.keep(made)
        return found | made

    def _decoded(self, shard: Shard, states: Sequence[State]) -> dict[Hashable, Candidate]:
        """The candidates in these states; a point deleted meanwhile is left out."""
        found = self._candidates.find(states)
        missing: dict[Any, State] = {state.id: state for state in states if state not in found}
        records = shard.fetch(list(missing), [DENSE, SPARSE] if shard.has_sparse else [DENSE])
        made: dict[Hashable, Candidate] = {
            missing[record.id]: _candidate(missing[record.id], record) for record in records
        }
        self._candidates.keep(made)
        return found | made

    def _statistics(self, shard: Shard, writes: int, terms: Sequence[int]) -> dict[int, float]:
        """Idf per BM25 dimension, as the engine itself weighs it, asked once per term and state of the collection."""
        with self._guard:
            if self._idf_writes != writes:
                self._idf, self._idf_writes = {}, writes
            known = self._idf
        missing = [term for term in terms if term not in known]
        if missing:
            heaviest = shard.heaviest(missing)
            nowhere = math.log(1.0 + (shard.count() + 0.5) / 0.5) if None in heaviest else 0.0
            known.update(
                (term, best[0] / best[1] if best else nowhere) for term, best in zip(missing, heaviest, strict=True)
            )
        return {term: known[term] for term in terms}


def _candidate(state: State, record: edge.Record) -> Candidate:
    vectors = _vectors(record)
    dense, sparse = vectors.get(DENSE), vectors.get(SPARSE)
    return Candidate(
        key=state,
        chunk=chunk_from_payload(str(record.id), record.payload),
        dense=None if dense is None else _matrix([dense], len(dense))[0],
        sparse=None if sparse is None else dict(zip(sparse.indices, sparse.values, strict=True)),
    )


def _vectors(record: edge.Record) -> dict[str, Any]:
    vectors: Any = record.vector or {}
    return dict(vectors)


def _matrix(rows: Sequence[Sequence[float]], size: int) -> Matrix:
    """Rows of Python floats as float32 [n, size]; twice as fast as ``np.array``."""
    return np.frombuffer(b"".join(starmap(Struct(f"{size}f").pack, rows)), np.float32).reshape(-1, size)


def _bytes(candidate: Candidate) -> int:
    """About what a candidate takes: its vector, its weights, its text and its chunk's fields."""
    dense = 0 if candidate.dense is None else candidate.dense.nbytes
    return dense + 100 * len(candidate.sparse or ()) + 2 * len(candidate.chunk.text) + 1024
