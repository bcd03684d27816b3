"""The graders that need no reranker: similarities, words and the reader, or the cosine alone."""

from collections.abc import Sequence
from dataclasses import replace

from answering.relevance.calibration import Calibration
from answering.relevance.graders import best_first, grade
from answering.types import Chunk, SubqueryResults
from graph.state import Question


class LocalGrader:
    """``RERANKER=local``: similarities, words and the reader, weighed as fitted for one embedding model."""

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration

    async def grade(self, question: Question, retrieved: Sequence[SubqueryResults]) -> list[Chunk]:
        """Return every candidate once with its relevance, best first."""
        return list(grade(retrieved, self._calibration))


class CosineGrader:
    """``RERANKER=none``: the calibrated cosine alone."""

    def __init__(self, calibration: Calibration) -> None:
        self._calibration = calibration

    async def grade(self, question: Question, retrieved: Sequence[SubqueryResults]) -> list[Chunk]:
        """Return every candidate once with its relevance, best first."""
        cosine = self._calibration.cosine.probability
        chunks = [chunk for results in retrieved for chunk in results.chunks]
        return best_first([replace(one, relevance=cosine({"chunk_similarity": one.similarity})) for one in chunks])
