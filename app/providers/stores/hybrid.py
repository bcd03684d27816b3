"""What hybrid retrieval asks of a vector store, and what it gets: candidates with the vectors to measure them by."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from graph.state import Chunk

SIMILARITY_SHARE = 0.7
"""Weight of the cosine in the order of the candidates; the rest is BM25's."""


@dataclass(frozen=True, slots=True)
class HybridQuery:
    """One question: its unit vector, float32 [d], and the BM25 dimensions of its stems.

    Of the candidates the asker keeps only the best ``keep`` by cosine and BM25, weighted; None: all of them.
    """

    dense: NDArray[np.float32]
    terms: tuple[int, ...]
    keep: int | None = None


class Candidate(NamedTuple):
    """A stored chunk with its unit vector, float32 [d], and its BM25 weights by dimension.

    Either is None where the store has none. ``chunk`` carries nothing measured, except that without ``dense`` its
    ``similarity`` is the cosine the store measured. ``key`` is the store's own name for the chunk in this state.
    ``sentences``, float32 [n_spans, d], are the unit vectors of its sentences where they came with it.
    """

    key: Hashable
    chunk: Chunk
    dense: NDArray[np.float32] | None = None
    sparse: Mapping[int, float] | None = None
    sentences: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True)
class HybridHits:
    """Per query what both channels found, in no order; ``idf`` per dimension, empty without a sparse channel."""

    candidates: list[list[Candidate]]
    idf: dict[int, float] = field(default_factory=dict)


class HybridStore(Protocol):
    """A store that can be searched in both channels at once. Both methods may raise ``StoreUnavailable``."""

    async def ahybrid(
        self, queries: Sequence[HybridQuery], limit: int, where: Mapping[str, Any] | None = None
    ) -> HybridHits:
        """Search ``limit`` chunks per channel and query, among those whose metadata has the values of ``where``.

        A store may leave out what is not among the best that the query keeps.
        ``idf`` is ``ln(1 + (N - n + .5) / (n + .5))`` over the whole collection, for every term of every query.
        Raises ``CollectionMissing``, or ``ConfigurationError`` when the vectors' size is not the collection's.
        """
        ...

    async def asentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, NDArray[np.float32]]:
        """Per ``key`` the unit vectors of the chunk's sentences, float32 [n_spans, d], for those stored with them."""
        ...


def came_along(candidates: Sequence[Candidate]) -> dict[Hashable, NDArray[np.float32]]:
    """``HybridStore.asentences`` of a store whose candidates bring their sentences along."""
    return {one.key: one.sentences for one in candidates if one.sentences is not None and len(one.sentences)}
