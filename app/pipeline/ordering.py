"""What graders and synthesizers alike read from the readings of a question."""

from __future__ import annotations

from collections.abc import Sequence

from graph.state import Chunk


def best_first(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Each chunk once, as the reading that found it most relevant saw it; highest relevance first."""
    best: dict[str, Chunk] = {}
    for chunk in chunks:
        known = best.get(chunk.chunk_id)
        if known is None or (known.relevance or 0.0) < (chunk.relevance or 0.0):
            best[chunk.chunk_id] = chunk
    return sorted(best.values(), key=lambda chunk: -(chunk.relevance or 0.0))
