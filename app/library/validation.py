"""``validate_retrieval``: a plain function over the graph's own retrieval measures, grading and answer threshold.

It may be called from any thread and inside a running event loop. Chunks are measured by the embedded model whatever
``EMBEDDING_MODEL`` names, so that Cohere's rerank, if any, is the only call that leaves this process.
"""

import asyncio
import logging
import time
from collections.abc import Sequence
from functools import cache
from threading import Lock
from typing import Any

from answering.questions.compound import split_questions, without_background
from answering.relevance.features import read_best
from answering.relevance.graders import assess, calibration_for, grade, load_calibrations
from answering.types import Chunk, Question, SubqueryResults
from app.library.chunk_list_store import ChunkListStore
from app.library.retrieval_checks import MAX_CHUNKS, check_arguments, verdict
from app.ops.traffic import current_request_id
from app.pipeline.retriever import HybridRetriever
from app.providers.blocking import run_blocking
from app.providers.embeddings.minilm import MODEL_NAME
from app.providers.embeddings.models import EmbeddingModel, make_embeddings
from app.providers.embeddings.vectors import valid_unicode
from app.providers.http.error_mapping import ErrorInfo, classify_error
from app.providers.rerank.models import make_reranker
from app.providers.rerank.reader import OnnxReader
from app.settings import load_settings
from graph.errors import RAGError, RerankFailed

LIMIT = 5.0
"""Seconds one validation may take (the document's absolute timeout)."""
MAX_READ = 8
"""Most chunks that are read for each sub-question."""
COHERE_MODEL = "cohere:rerank-v3.5"
"""The reranker where ``RERANKER`` names none."""
SENT_CHARS = 16_000
"""Characters sent of one chunk; Cohere reads about as many (docs.cohere.com, "Rerank": 4,096 tokens)."""
_REASONS = {401: "invalid API key", 403: "access denied", 404: "model not found", 429: "rate limit exceeded"}

log = logging.getLogger("garden.validation")


class CohereAPIError(RerankFailed):
    """Cohere did not rerank; ``details["status"]`` is the HTTP status, where there was one."""


def validate_retrieval(
    query: str,
    chunks: list[dict[str, Any]],
    relevance_threshold: float = 0.3,
    request_id: str | None = None,
) -> dict[str, Any]:
    """Decide which of *chunks* are relevant to *query*, and whether they hold its answer.

    *query* has 3 to 500 characters; a chunk is ``{"chunk_id", "text"}`` with optional ``metadata`` and ``score``, at
    most 50 of them; the threshold is in [0, 1]. Returns ``relevant_chunks`` (best first), ``answer_present``,
    ``evidence``, ``retrieval_quality`` ("Good", "Partial" or "Poor"), ``quality_reasoning`` and ``processing_time_ms``.
    With ``COHERE_API_KEY`` the relevance is Cohere's own score, else the fitted one of the grader.
    Logs and raises ``TypeError``, ``ValidationError``, ``CohereAPIError``, or ``TimeoutError`` after ``LIMIT`` seconds.
    """
    log_fields = {"request_id": request_id if isinstance(request_id, str) else current_request_id()}
    try:
        check_arguments(query, chunks, relevance_threshold, request_id)
        result = _validate(query, chunks, float(relevance_threshold))
    except (TypeError, TimeoutError, RAGError) as error:
        log_fields |= {"error_type": type(error).__name__, "error": str(error)}
        log.error("validation_failed", extra=log_fields)
        raise
    counts = {"chunks": len(chunks), "relevant": len(result["relevant_chunks"]), "ms": result["processing_time_ms"]}
    log.info("validation", extra={**log_fields, **counts, "quality": result["retrieval_quality"]})
    return result


def _validate(query: str, chunks: list[dict[str, Any]], threshold: float) -> dict[str, Any]:
    if not chunks:
        return _timed(verdict({}, {}, threshold), time.perf_counter())
    with _loading:
        embedding, reader = shared_parts()
    started = time.perf_counter()  # loading happens once in a process, and is no processing time
    try:
        results, scores = run_blocking(_measure(query, chunks, embedding, reader))
    except TimeoutError:
        raise TimeoutError(f"Validation processing exceeded {LIMIT * 1000:.0f}ms timeout") from None
    calibration = calibration_for(embedding.name, load_calibrations())
    assessed = [assess(subquery, calibration) for subquery in results]
    if scores is None:
        graded = grade(assessed)
        scores = {chunk.chunk_id: chunk.relevance or 0.0 if chunk.spans else 0.0 for chunk in graded}  # blank text: 0
    return _timed(verdict({part.question: part.chunks for part in assessed}, scores, threshold), started)


def _timed(result: dict[str, Any], started: float) -> dict[str, Any]:
    return {**result, "processing_time_ms": max(0.001, round((time.perf_counter() - started) * 1000, 3))}


async def _measure(
    query: str, chunks: list[dict[str, Any]], embedding: EmbeddingModel, reader: OnnxReader
) -> tuple[tuple[SubqueryResults, ...], dict[str, float] | None]:
    """Measure and read the chunks, and concurrently get Cohere's scores, if chosen."""
    now, text = time.monotonic(), valid_unicode(query.strip())
    bare = without_background(text)
    until = now + 2 * LIMIT
    question = Question(text, split_questions(bare), MAX_CHUNKS, None, None, now, until, background=bare != text)
    store = ChunkListStore(chunks, embedding.embeddings)

    async def read() -> tuple[SubqueryResults, ...]:
        retrieved = await HybridRetriever(store, embedding.embeddings, MAX_CHUNKS).retrieve(question)
        return await read_best(reader, retrieved, MAX_READ)

    async with asyncio.timeout(LIMIT):
        return await asyncio.gather(read(), _cohere_scores(query, store.chunks))


async def _cohere_scores(query: str, chunks: Sequence[Chunk]) -> dict[str, float] | None:
    """Return Cohere's score in [0, 1] by chunk id, from exactly one request.

    None unless its key is set and ``RERANKER`` is not ``local``. Raises ``CohereAPIError``, or ``TimeoutError`` when
    the connection timed out.
    """
    settings = load_settings()
    local = "reranker" in settings.model_fields_set and settings.reranker == "local"
    if local or not settings.cohere_api_key.get_secret_value():
        return None
    named = settings.reranker if settings.reranker.startswith("cohere:") else COHERE_MODEL
    reranker = make_reranker(settings.model_copy(update={"reranker": named}))
    texts = [valid_unicode(f"{chunk.title}\n{chunk.text[:SENT_CHARS]}".strip()) for chunk in chunks]
    try:
        scores = dict(await reranker.ascores(valid_unicode(query), texts))
        return {chunk.chunk_id: float(scores[position]) for position, chunk in enumerate(chunks)}
    except Exception as error:  # noqa: BLE001 - raised anew without its cause: a traceback shows no vendor's words
        raise _error(classify_error(error)) from None
    finally:
        await reranker.aclose()


def _error(info: ErrorInfo) -> Exception:
    if info.kind == "late":
        return TimeoutError()
    if info.kind == "unreachable":
        return CohereAPIError("Cohere rerank API could not be reached")
    if info.status is None:
        return CohereAPIError("Cohere rerank API returned an unexpected response")
    reason = _REASONS.get(info.status, "server error" if info.status >= 500 else "request rejected")
    return CohereAPIError(f"Cohere rerank API returned {info.status} ({reason})", status=info.status)


_loading = Lock()
"""Held while the shared parts are loaded, so that none is loaded twice."""


@cache
def shared_parts() -> tuple[EmbeddingModel, OnnxReader]:
    """Load the embedded model and the reader, shared by all calls. Raises ``ConfigurationError``."""
    return make_embeddings(load_settings(embedding_model=MODEL_NAME)), OnnxReader()
