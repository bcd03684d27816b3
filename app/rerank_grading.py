"""Gate one by a vendor's reranker: any LangChain ``BaseDocumentCompressor`` that scores, brought onto our scale."""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from langchain_core.documents import BaseDocumentCompressor, Document

from app.circuit import Circuit
from app.faults import fault_of, rerank_error
from app.providers.rerankers import RERANK_SECONDS, SCORE
from app.readings import best_first
from app.resilience import Retry
from graph.errors import RerankFailed
from graph.ports import Retrieved
from graph.state import Chunk, Question, Reading

_EDGE = 1e-6
_PLACE = "garden_place"


@dataclass(frozen=True, slots=True)
class ScoreScale:
    """Platt's scaling of a reranker's score: ``bias`` and ``weight`` over its log-odds."""

    bias: float
    weight: float

    def relevance(self, score: float) -> float:
        """The probability in [0, 1] that a *score* in [0, 1] stands for."""
        inside = min(1.0 - _EDGE, max(_EDGE, score))
        return 1.0 / (1.0 + math.exp(-(self.bias + self.weight * math.log(inside / (1.0 - inside)))))


def load_scale(provider: str, path: Path | None = None) -> ScoreScale:
    """The scale of *provider*'s scores from the file at *path*, or from the one in the package.

    Raises ``OSError`` or ``KeyError`` when the file, or the provider in it, is missing.
    """
    source = path or Path(__file__).with_name("providers") / "rerank_calibration.json"
    entry = json.loads(source.read_text(encoding="utf-8"))["rerankers"][provider]
    return ScoreScale(float(entry["bias"]), float(entry["weight"]))


class RerankGrader:
    """``RERANKER=provider:model``: one call per part of the question, all within the deadline."""

    def __init__(
        self,
        reranker: BaseDocumentCompressor,
        scale: ScoreScale,
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
                    parts = [group.create_task(self._rerank(reading, until)) for reading in retrieved.readings]
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

    async def _rerank(self, reading: Reading, until: float) -> list[Chunk]:
        documents = [
            Document(f"{chunk.title}\n{chunk.text}".strip(), metadata={_PLACE: place})
            for place, chunk in enumerate(reading.chunks)
        ]

        async def ask() -> Sequence[Document]:
            try:
                return await self._reranker.acompress_documents(documents, reading.question)
            except Exception as error:
                raise rerank_error(error) from error

        scored = await self._retry.acall(ask, deadline=until)
        scores = {document.metadata[_PLACE]: float(document.metadata[SCORE]) for document in scored}
        # A reranker of someone else's may return only its best; the rest it found wanting.
        return [
            chunk.having(relevance=self._scale.relevance(scores.get(place, 0.0)))
            for place, chunk in enumerate(reading.chunks)
        ]


def _resting() -> RerankFailed:
    return RerankFailed("The reranker keeps failing; it is tried again in a moment.")


def _is_failure(error: Exception) -> bool:
    return isinstance(error, RerankFailed) and fault_of(error).kind != "rejected"
