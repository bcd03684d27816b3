"""Grade chunks without a vendor: the calibrated relevance, or the calibrated cosine alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graph.ports import Retrieved
from graph.relevance.calibration import Calibration, cosine_relevance
from graph.relevance.english import english_idf
from graph.relevance.thresholds import grade
from graph.state import Chunk, Question


class LocalGrader:
    """``RERANKER=local``: similarities, words and the reader, weighed as fitted for one embedding model."""

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration

    async def grade(self, question: Question, retrieved: Retrieved) -> list[Chunk]:
        """Return every candidate once with its calibrated relevance, best first."""
        return list(grade(retrieved.subquery_results, english_idf, self._calibration))


class CosineGrader:
    """``RERANKER=none``: the calibrated cosine alone."""

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration

    async def grade(self, question: Question, retrieved: Retrieved) -> list[Chunk]:
        """Return every candidate once with its calibrated relevance, best first."""
        return best_first(
            [
                replace(chunk, relevance=cosine_relevance(chunk.similarity, self._calibration))
                for results in retrieved.subquery_results
                for chunk in results.chunks
            ]
        )


def best_first(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Keep each chunk once, with its highest relevance; highest first."""
    best: dict[str, Chunk] = {}
    for chunk in sorted(chunks, key=lambda chunk: -(chunk.relevance or 0.0)):
        best.setdefault(chunk.chunk_id, chunk)
    return list(best.values())
