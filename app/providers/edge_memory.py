"""What was decoded of an embedded shard, kept for the next question.

Getting vectors out of the engine and into numpy takes longer than finding them, and questions meet the same chunks
again and again. What was decoded is keyed by the point and the write that made it what it is: a changed point has
another key, and nothing is ever stale.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from app.providers.edge_queries import Hit
from app.providers.edge_shard import Shard
from app.providers.hybrid import Candidate
from app.providers.layout import DENSE, SENTENCES, SPARSE
from app.providers.memory_cache import MemoryCache
from app.providers.packed_vectors import Unpacked, unpacked
from app.providers.payloads import chunk_from_payload

REMEMBERED_BYTES = 48 << 20
"""Some 3,000 chunks of 384 dimensions and six sentences."""


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
    """Candidates with the vectors of their sentences, within ``REMEMBERED_BYTES``; safe for threads."""

    def __init__(self) -> None:
        self._candidates: MemoryCache[Candidate] = MemoryCache(REMEMBERED_BYTES, _bytes)

    def candidates(self, states: Sequence[State]) -> dict[Hashable, Candidate]:
        """Those of the candidates in these states that are remembered."""
        return self._candidates.find(states)

    def decode(self, shard: Shard, states: Sequence[State]) -> dict[Hashable, Candidate]:
        """Read and remember these candidates; what was deleted meanwhile, or holds no vector, is left out."""
        wanted: dict[Any, State] = {state.id: state for state in states}
        records = shard.fetch(list(wanted), [SPARSE] if shard.has_sparse else [])
        read = [(record.id, record.payload, record.vector) for record in records]
        vectors = {own: unpacked(payload, shard.size) for own, payload, _ in read}
        older = [own for own, one in vectors.items() if one is None]
        if older:
            vectors |= _older(shard, older)
        made: dict[Hashable, Candidate] = {}
        for own, payload, rest in read:
            one = vectors[own]
            if one is not None:
                made[wanted[own]] = _candidate(wanted[own], payload, one, rest)
        self._candidates.keep(made)
        return made


def _older(shard: Shard, ids: Sequence[Any]) -> dict[Any, Unpacked | None]:
    """The same for points that are stored without them, of the vectors they have; None without one."""
    known: dict[Any, Unpacked | None] = dict.fromkeys(ids)
    names = [DENSE, *([SENTENCES] if shard.has_sentences else [])]
    for record in shard.fetch(ids, names, payload=False):
        vectors: Any = record.vector or {}
        if DENSE in vectors:
            rows = np.array([vectors[DENSE], *vectors.get(SENTENCES, ())], np.float32)
            known[record.id] = Unpacked(rows[0], rows[1:])
    return known


def _candidate(state: State, payload: dict[str, Any] | None, vectors: Unpacked, rest: Any) -> Candidate:
    sparse = (rest or {}).get(SPARSE)
    return Candidate(
        key=state,
        chunk=chunk_from_payload(str(state.id), payload),
        dense=vectors.dense,
        sparse=None if sparse is None else dict(zip(sparse.indices, sparse.values, strict=True)),
        sentences=vectors.sentences,
    )


def _bytes(candidate: Candidate) -> int:
    """About what a candidate takes: its vectors, its weights, its text and its chunk's fields."""
    vectors = sum(rows.nbytes for rows in (candidate.dense, candidate.sentences) if rows is not None)
    return vectors + 100 * len(candidate.sparse or ()) + 2 * len(candidate.chunk.text) + 1024
