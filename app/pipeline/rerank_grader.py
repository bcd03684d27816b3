"""Gate one by a reranker: any LangChain ``BaseDocumentCompressor`` that scores, brought onto our scale."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from langchain_core.documents import BaseDocumentCompressor, Document

from app.providers.http.circuit import Circuit
from app.providers.http.error_mapping import fault_of, rerank_error
from app.providers.http.retry import Retry
from app.providers.rerank.models import RERANK_SECONDS
from app.providers.rerank.scores import SCORE, log_odds_of, sigmoid, valid_unicode
from graph.errors import ConfigurationError, RerankFailed
from graph.ports import Retrieved
from graph.relevance.graders import best_first
from graph.state import Chunk, Question, SubqueryResults

_PLACE = "garden_place"


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """Platt's scaling of a reranker's score: ``bias`` and ``weight`` over its log-odds."""

    bias: float
    weight: float

    def relevance(self, score: float) -> float:
        """The probability in [0, 1] that a *score* in [0, 1] stands for."""
        return sigmoid(self.bias + self.weight * log_odds_of(score))


AS_IT_IS = ScoreScale(0.0, 1.0)
"""Leaves scores alone."""

DEFAULT_SCALE = ScoreScale(2.2336, 1.0)
"""Not fitted, for that takes the user's questions (``garden calibrate``): 0.3, the default bar of retrieval validation,
becomes 0.8, that of gate one; with the slope left at 1, 0.05 becomes 0.33 and 0.9 becomes 0.99."""


def load_scale(path: Path, reranker: str) -> ScoreScale:
    """The scale that ``garden calibrate`` fitted to *reranker* and kept in the file at *path*, or the default one.

    Raises ``ConfigurationError`` when the file cannot be read.
    """
    try:
        known = json.loads(path.read_text(encoding="utf-8")).get("rerankers", {}) if path.is_file() else {}
        entry = known.get(reranker)
        return ScoreScale(float(entry["bias"]), float(entry["weight"])) if entry else DEFAULT_SCALE
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"{path} cannot be read: remove it, or run garden calibrate again") from error


class RerankGrader:
    """A reranker of ``RERANKER``: one call per part of the question, all within *seconds* and the deadline."""

    def __init__(
        self,
        reranker: BaseDocumentCompressor,
        scale: ScoreScale = DEFAULT_SCALE,
        *,
        retry: Retry | None = None,
        circuit: Circuit | None = None,
        seconds: float = RERANK_SECONDS,
    ) -> None:
        self._reranker = reranker
        self._scale = scale
        self._retry = retry or Retry()
        self.circuit = circuit or Circuit("reranker")
        self._seconds = seconds

    async def grade(self, question: Question, retrieved: Retrieved) -> list[Chunk]:
        """Return every candidate once with its calibrated relevance, best first. Raises ``RerankFailed``."""
        until = min(question.deadline, time.monotonic() + self._seconds)
        with self.circuit.guard(_resting, _is_failure):
            try:
                async with asyncio.timeout(max(0.0, until - time.monotonic())), asyncio.TaskGroup() as group:
                    parts = [group.create_task(self._rerank(reading, until)) for reading in retrieved.subquery_results]
            except TimeoutError as error:
                raise RerankFailed("The reranker did not answer in time.") from error
            except ExceptionGroup as failures:
                raise failures.exceptions[0] from failures.exceptions[0].__cause__
        return best_first([chunk for part in parts for chunk in part.result()])

    async def aclose(self) -> None:
        """Close the reranker's connections, where it has any."""
        close = getattr(self._reranker, "aclose", None)
        if close:
            await close()

    async def _rerank(self, reading: SubqueryResults, until: float) -> list[Chunk]:
        documents = [
            Document(valid_unicode(f"{chunk.title}\n{chunk.text}".strip()), metadata={_PLACE: place})
            for place, chunk in enumerate(reading.chunks)
        ]

        async def ask() -> Sequence[Document]:
            try:
                return await self._reranker.acompress_documents(documents, valid_unicode(reading.question))
            except Exception as error:
                raise rerank_error(error) from error

        scored = await self._retry.acall(ask, deadline=until)
        scores = {document.metadata[_PLACE]: float(document.metadata[SCORE]) for document in scored}
        # A reranker of someone else's may return only its best; the rest it found wanting.
        return [
            replace(chunk, relevance=self._scale.relevance(scores.get(place, 0.0)))
            for place, chunk in enumerate(reading.chunks)
        ]


def _resting() -> RerankFailed:
    return RerankFailed("The reranker keeps failing; it is tried again in a moment.")


def _is_failure(error: Exception) -> bool:
    return isinstance(error, RerankFailed) and fault_of(error).kind != "rejected"
