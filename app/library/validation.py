"""Door V: ``validate_retrieval``, a plain function over the graph's own retrieval measures, grading and second gate.

It may be called from any thread and inside a running event loop. Chunks are measured by the embedded model whatever
``EMBEDDING_MODEL`` names, so that the one call that leaves this process is Cohere's rerank, if any.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.library.validation_chunks import GivenChunks
from app.library.validation_cohere import chosen_reranker, rerank_once
from app.library.validation_parts import shared_embedding, shared_loop, shared_reader
from app.ops.request_id import current_request_id
from app.pipeline.retriever import HybridRetriever
from app.settings import Settings, load_settings
from graph.errors import RAGError
from graph.ports import Retrieved
from graph.relevance.calibration import calibration_for, load_calibrations
from graph.relevance.compound import question_parts
from graph.relevance.english import english_idf
from graph.relevance.reading import read_best
from graph.relevance.thresholds import grade
from graph.retrieval_validation import nothing_given, verdict
from graph.state import Question, SubqueryResults
from graph.validation_rules import MOST_CHUNKS, check_arguments

if TYPE_CHECKING:
    from app.providers.embeddings.models import EmbeddingModel
    from app.providers.rerank.cohere import CohereReranker

LIMIT = 5.0
"""Seconds one validation may take (the document's absolute timeout)."""
LEAST = 2.0
"""Seconds that are left for the work even where loading the model, which happens once, took nearly all of the limit."""

MOST_READ = 8
"""Chunks that are read for each part of the query, nearest first."""

log = logging.getLogger("garden.validation")


def validate_retrieval(
    query: str,
    chunks: list[dict[str, Any]],
    relevance_threshold: float = 0.3,
    request_id: str | None = None,
) -> dict[str, Any]:
    """Say which of *chunks* are relevant to *query*, and whether they hold its answer.

    *query* has 3 to 500 characters; a chunk is ``{"chunk_id", "text"}`` with optional ``metadata`` and ``score``, at
    most 50 of them; the threshold is in [0, 1]. Returns ``relevant_chunks`` (best first), ``answer_present``,
    ``evidence``, ``retrieval_quality`` ("Good", "Partial" or "Poor"), ``quality_reasoning`` and ``processing_time_ms``.
    With ``COHERE_API_KEY`` the relevance is Cohere's own score, else the calibrated probability of gate one.

    Raises ``TypeError`` and ``ValidationError`` for the arguments, ``CohereAPIError``, and ``TimeoutError`` after
    ``LIMIT`` seconds; each is logged first. No argument is changed.
    """
    return Validator().validate(query, chunks, relevance_threshold, request_id)


@dataclass(frozen=True, slots=True)
class Validator:
    """``validate_retrieval`` with parts that may be given; by default they are read and loaded as they are needed."""

    settings: Callable[[], Settings] = load_settings
    embedding: Callable[[Settings], EmbeddingModel] = shared_embedding
    limit: float = LIMIT

    def validate(self, query: Any, chunks: Any, relevance_threshold: Any, request_id: Any) -> dict[str, Any]:
        """See ``validate_retrieval``."""
        name = request_id if isinstance(request_id, str) else current_request_id()
        try:
            check_arguments(query, chunks, relevance_threshold, request_id)
            result = self._judged(query, chunks, float(relevance_threshold))
        except (TypeError, TimeoutError, RAGError) as error:
            said = {"request_id": name, "error_type": type(error).__name__, "error": str(error)}
            log.error("validation_failed", extra=said)
            raise
        summary = {
            "request_id": name,
            "chunks": len(chunks),
            "relevant": len(result["relevant_chunks"]),
            "quality": result["retrieval_quality"],
            "ms": result["processing_time_ms"],
        }
        log.info("validation", extra=summary)
        return result

    def _judged(self, query: str, chunks: list[dict[str, Any]], threshold: float) -> dict[str, Any]:
        began = time.perf_counter()
        if not chunks:
            return {**nothing_given(), "processing_time_ms": _milliseconds(began)}
        settings = self.settings()
        embedding = self.embedding(settings)
        reranker = chosen_reranker(settings)
        ready = time.perf_counter()  # what comes before is done once in a process, and is no processing
        until = ready + max(self.limit - (ready - began), min(LEAST, self.limit))
        parts = question_parts(query.strip())
        given = GivenChunks(chunks, parts, embedding.embeddings)
        measured = _Measuring(query, parts, given, embedding, reranker)
        retrieved, scores = shared_loop().run(measured.within(until - time.perf_counter(), self.limit))
        calibration = calibration_for(embedding.name, load_calibrations())
        reading = read_best(shared_reader(), retrieved.subquery_results, MOST_READ)
        subquery_results = shared_loop().run(_in_time(reading, until - time.perf_counter(), self.limit))
        if scores is None:
            graded = grade(subquery_results, english_idf, calibration)
            scores = {one.chunk_id: one.relevance or 0.0 if one.spans else 0.0 for one in graded}  # blank says nothing
        result = verdict(subquery_results, scores, english_idf, calibration, threshold)
        if time.perf_counter() > until:
            raise _late(self.limit)
        return {**result, "processing_time_ms": _milliseconds(ready)}


@dataclass(frozen=True, slots=True)
class _Measuring:
    """What is waited for: the chunks' measures, and Cohere's scores beside them."""

    query: str
    parts: tuple[str, ...]
    given: GivenChunks
    embedding: EmbeddingModel
    reranker: CohereReranker | None

    async def within(self, seconds: float, limit: float) -> tuple[Retrieved, dict[str, float] | None]:
        """Both, in so many seconds. Raises ``TimeoutError`` with the document's message, or ``CohereAPIError``."""
        try:
            async with asyncio.timeout(seconds):
                return await self._both()
        except TimeoutError:
            raise _late(limit) from None

    async def _both(self) -> tuple[Retrieved, dict[str, float] | None]:
        measured, scored = asyncio.create_task(self._measured()), asyncio.create_task(self._scored())
        try:
            await asyncio.gather(measured, scored)
        finally:
            measured.cancel()
            scored.cancel()
        return measured.result(), scored.result()

    async def _measured(self) -> Retrieved:
        now = time.monotonic()
        question = Question(self.query, self.parts, MOST_CHUNKS, None, None, now, now + 2 * LIMIT)
        return await HybridRetriever(self.given, self.embedding.embeddings, MOST_CHUNKS).retrieve(question)

    async def _scored(self) -> dict[str, float] | None:
        return await rerank_once(self.reranker, self.query, self.given.chunks) if self.reranker else None


async def _in_time(
    reading: Awaitable[tuple[SubqueryResults, ...]], seconds: float, limit: float
) -> tuple[SubqueryResults, ...]:
    """*reading* in so many seconds. Raises ``TimeoutError`` with the document's message."""
    try:
        async with asyncio.timeout(seconds):
            return await reading
    except TimeoutError:
        raise _late(limit) from None


def _late(limit: float) -> TimeoutError:
    return TimeoutError(f"Validation processing exceeded {limit * 1000:.0f}ms timeout")


def _milliseconds(began: float) -> float:
    return max(0.001, round((time.perf_counter() - began) * 1000, 3))
