"""What graders and synthesizers alike read from the readings of a question."""

from __future__ import annotations

from collections.abc import Sequence

from graph.ports import Retrieved
from graph.state import Chunk
from graph.terms import Idf, candidate_idf


def idf_of(retrieved: Retrieved) -> Idf:
    """The collection's inverse document frequencies, or the candidates' own where the store keeps none.

    A stem the collection's statistics leave out counts as the rarest they know.
    """
    if not retrieved.idf:
        return candidate_idf([chunk.text for reading in retrieved.readings for chunk in reading.chunks])
    known, rarest = retrieved.idf, max(retrieved.idf.values())
    return lambda stem: known.get(stem, rarest)


def best_first(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Each chunk once, as the reading that found it most relevant saw it; highest relevance first."""
    best: dict[str, Chunk] = {}
    for chunk in chunks:
        known = best.get(chunk.chunk_id)
        if known is None or (known.relevance or 0.0) < (chunk.relevance or 0.0):
            best[chunk.chunk_id] = chunk
    return sorted(best.values(), key=lambda chunk: -(chunk.relevance or 0.0))
