"""Gate one behind its port: what needs no vendor. ``app/pipeline/rerank_grader.py`` has the way that does."""

from __future__ import annotations

from app.pipeline.ordering import best_first
from graph.ports import Retrieved
from graph.relevance.calibration import Calibration, cosine_relevance
from graph.relevance.english import english_idf
from graph.relevance.thresholds import grade
from graph.state import Chunk, Question


class LocalGrader:
    """``RERANKER=local``: similarities, words and rank, weighed as they were fitted for one embedding model."""

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration

    async def grade(self, question: Question, retrieved: Retrieved) -> list[Chunk]:
        """Return every candidate once with its calibrated relevance, best first. Raises nothing of its own."""
        return list(grade(retrieved.subquery_results, english_idf, self._calibration))


class CosineGrader:
    """``RERANKER=none``: the calibrated cosine alone."""

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration

    async def grade(self, question: Question, retrieved: Retrieved) -> list[Chunk]:
        """Return every candidate once with its calibrated relevance, best first. Raises nothing of its own."""
        return best_first(
            [
                chunk.having(relevance=cosine_relevance(chunk.similarity, self._calibration))
                for reading in retrieved.subquery_results
                for chunk in reading.chunks
            ]
        )
