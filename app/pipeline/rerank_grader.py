"""Grade chunks by a reranker: any LangChain ``BaseDocumentCompressor`` that scores, calibrated."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from langchain_core.documents import BaseDocumentCompressor, Document

from app.providers.embeddings.vectors import valid_unicode
from app.providers.http.circuit import Circuit
from app.providers.http.error_mapping import fault_of, rerank_error
from app.providers.http.retry import Retry
from app.providers.rerank.models import RERANK_SECONDS
from app.providers.rerank.scores import SCORE, log_odds_of, sigmoid
from graph.errors import ConfigurationError, RerankFailed
from graph.ports import Retrieved
from graph.relevance.graders import best_first
from graph.state import Chunk, Question, SubqueryResults

_INDEX = "candidate_index"


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """Scales a reranker's score by Platt's method: ``bias`` and ``weight`` over its log-odds."""

    bias: float
    weight: float

    def relevance(self, score: float) -> float:
        """Return the probability in [0, 1] that a *score* in [0, 1] stands for."""
        return sigmoid(self.bias + self.weight * log_odds_of(score))


AS_IT_IS = ScoreScale(0.0, 1.0)
"""Leaves scores alone."""

DEFAULT_SCALE = ScoreScale(2.2336, 1.0)
"""Not fitted, for that takes the user's questions (``garden calibrate``): 0.3, the default threshold of retrieval
validation, becomes 0.8, that of ``RELEVANCE_THRESHOLD``; with the slope left at 1, 0.05 becomes 0.33, 0.9 0.99."""


def load_scale(path: Path, reranker: str) -> ScoreScale:
    """Read the scale that ``garden calibrate`` fitted to *reranker* from the file at *path*, or return the default one.

    Raises ``ConfigurationError`` when the file cannot be read.
    """
    try:
        known = json.loads(path.read_text(encoding="utf-8")).get("rerankers", {}) if path.is_file() else {}
        entry = known.get(reranker)
        return ScoreScale(float(entry["bias"]), float(entry["weight"])) if entry else DEFAULT_SCALE
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ConfigurationError(f"{path} cannot be read: remove it, or run garden calibrate again") from error


class RerankGrader:
    """Calls the reranker of ``RERANKER`` once per part of a question, all within *seconds* and the deadline."""

    def __init__(
        self, reranker: BaseDocumentCompressor, scale: ScoreScale = DEFAULT_SCALE, *, seconds: float = RERANK_SECONDS
    ) -> None:
        self._reranker = reranker
        self._scale = scale
        self._retry = Retry()
        self.circuit = Circuit("reranker")
        self._seconds = seconds

    async def grade(self, question: Question, retrieved: Retrieved) -> list[Chunk]:
        """Return every candidate once with its calibrated relevance, best first. Raises ``RerankFailed``."""
        until = min(question.deadline, time.monotonic() + self._seconds)
        open_circuit = RerankFailed("The reranker keeps failing; it is tried again in a moment.")
        with self.circuit.guard(lambda: open_circuit, _is_failure):
            try:
                async with asyncio.timeout(max(0.0, until - time.monotonic())), asyncio.TaskGroup() as group:
                    parts = [group.create_task(self._rerank(one, until)) for one in retrieved.subquery_results]
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

    async def _rerank(self, results: SubqueryResults, until: float) -> list[Chunk]:
        documents = [
            Document(valid_unicode(f"{chunk.title}\n{chunk.text}".strip()), metadata={_INDEX: index})
            for index, chunk in enumerate(results.chunks)
        ]

        async def call() -> Sequence[Document]:
            try:
                return await self._reranker.acompress_documents(documents, valid_unicode(results.question))
            except Exception as error:
                raise rerank_error(error) from error

        scored = await self._retry.acall(call, deadline=until)
        scores = {document.metadata[_INDEX]: float(document.metadata[SCORE]) for document in scored}
        # Another vendor's reranker may return only its best; the others count as irrelevant.
        return [
            replace(chunk, relevance=self._scale.relevance(scores.get(index, 0.0)))
            for index, chunk in enumerate(results.chunks)
        ]


def _is_failure(error: Exception) -> bool:
    return isinstance(error, RerankFailed) and fault_of(error).kind != "rejected"
