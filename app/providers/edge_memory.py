"""What was decoded of an embedded shard, kept for the next question.

Getting vectors out of the engine and into numpy takes longer than finding them, and questions meet the same chunks
again and again. What was decoded is keyed by the point and the write that made it what it is: a changed point has
another key, and nothing is ever stale.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import starmap
from struct import Struct
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from app.providers.edge_shard import Hit, Shard
from app.providers.hybrid import Candidate
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


class EdgeMemory:
    """Candidates and the vectors of their sentences, each within ``REMEMBERED_BYTES``; safe for threads."""

    def __init__(self) -> None:
        self._candidates: MemoryCache[Candidate] = MemoryCache(REMEMBERED_BYTES, _bytes)
        self._sentences: MemoryCache[Matrix] = MemoryCache(REMEMBERED_BYTES, lambda matrix: matrix.nbytes)

    def candidates(self, states: Sequence[State]) -> dict[Hashable, Candidate]:
        """Those of the candidates in these states that are remembered."""
        return self._candidates.find(states)

    def sentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, Matrix]:
        """The sentence vectors, float32 [n, d], that are remembered, by the candidate's key."""
        return self._sentences.find(candidate.key for candidate in candidates)

    def decode(self, shard: Shard, states: Sequence[State]) -> dict[Hashable, Candidate]:
        """Read and remember these candidates and their sentences; a point deleted meanwhile is left out."""
        wanted: dict[Any, State] = {state.id: state for state in states}
        names = [DENSE, *([SPARSE] if shard.has_sparse else []), *([SENTENCES] if shard.has_sentences else [])]
        made: dict[Hashable, Candidate] = {}
        sentences: dict[Hashable, Matrix] = {}
        for record in shard.fetch(list(wanted), names):
            state, vectors = wanted[record.id], _vectors(record)
            made[state] = _candidate(state, record, vectors)
            if SENTENCES in vectors:
                sentences[state] = _matrix(vectors[SENTENCES], shard.size)
        self._candidates.keep(made)
        self._sentences.keep(sentences)
        return made

    def decode_sentences(self, shard: Shard, candidates: Sequence[Candidate]) -> dict[Hashable, Matrix]:
        """The same for the sentences of candidates whose sentences were forgotten before they were."""
        wanted: dict[Any, State] = {one.key.id: one.key for one in candidates if isinstance(one.key, State)}
        if not shard.has_sentences or not wanted:
            return {}
        records = shard.fetch(list(wanted), [SENTENCES], payload=False)
        found = {wanted[record.id]: _vectors(record).get(SENTENCES) for record in records}
        made: dict[Hashable, Matrix] = {
            state: _matrix(rows, shard.size) for state, rows in found.items() if rows is not None
        }
        self._sentences.keep(made)
        return made


def _candidate(state: State, record: edge.Record, vectors: dict[str, Any]) -> Candidate:
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
