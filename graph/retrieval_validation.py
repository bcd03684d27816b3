"""Check the arguments of ``validate_retrieval``, and judge a retrieval: what is relevant, and does it hold the answer.

As in the graph, a chunk's relevance is compared with the threshold, then the probability that its sentences answer. The
vocabulary (relevant, answer present, Good, Partial, Poor) is the document's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

from graph.errors import InvalidInput
from graph.policy import MIN_CONFIDENCE
from graph.relevance.calibration import Calibration
from graph.relevance.extractive import answering_sentences
from graph.relevance.graders import Assessment, assess
from graph.state import SubqueryResults
from graph.terms import Idf

LEAST_QUERY_CHARS, MOST_QUERY_CHARS, MOST_CHUNKS = 3, 500, 50
SUMMARY_CHARS = 160
"""Longest summary of a chunk, "..." included."""


def nothing_given() -> dict[str, Any]:
    """Return the verdict on an empty list of chunks."""
    return {
        "relevant_chunks": [],
        "answer_present": False,
        "evidence": [],
        "retrieval_quality": "Poor",
        "quality_reasoning": "No chunks were given",
    }


def verdict(
    subquery_results: Sequence[SubqueryResults],
    relevance: Mapping[str, float],
    idf: Idf,
    calibration: Calibration,
    threshold: float,
) -> dict[str, Any]:
    """Return the document's result without its time, in plain JSON values.

    *subquery_results* hold every chunk measured against each sub-question; *relevance*, in [0, 1], is by chunk id.
    """
    ranked = sorted(relevance.items(), key=lambda item: -item[1])
    relevant = {chunk_id: score for chunk_id, score in ranked if score >= threshold}
    assessed = [assess(results, idf, calibration) for results in subquery_results]
    evidence: list[dict[str, Any]] = []
    answered = 0
    for results, row in zip(subquery_results, assessed, strict=True):
        found = [one for one in row if one.chunk.chunk_id in relevant and one.matches]
        answering = [one for one in found if one.answers >= MIN_CONFIDENCE]
        answered += bool(answering)
        for one in sorted(answering, key=lambda one: -one.answers):
            evidence.extend(piece for piece in _evidence(results.question, one) if piece not in evidence)
    return {
        "relevant_chunks": [
            {
                "chunk_id": chunk_id,
                "relevance_score": float(score),
                "is_relevant": True,
                "summary": _summary([one for row in assessed for one in row if one.chunk.chunk_id == chunk_id]),
            }
            for chunk_id, score in relevant.items()
        ],
        "answer_present": answered > 0,
        "evidence": evidence,
        "retrieval_quality": "Good" if answered else "Partial" if relevant else "Poor",
        "quality_reasoning": _reasoning(ranked, list(relevant.values()), answered, len(subquery_results), threshold),
    }


def _evidence(question: str, one: Assessment) -> list[dict[str, Any]]:
    """List the sentences of one chunk that answer *question*, each with its neighbours."""
    chunk, texts = one.chunk, one.chunk.sentences
    pieces = []
    for sentence in answering_sentences(one, question):
        index = chunk.spans.index((sentence.start, sentence.end))
        piece: dict[str, Any] = {"chunk_id": chunk.chunk_id, "quote": sentence.text, "sentence_index": index}
        if index > 0:
            piece["context_before"] = texts[index - 1]
        if index + 1 < len(texts):
            piece["context_after"] = texts[index + 1]
        pieces.append(piece)
    return pieces


def _summary(seen: Sequence[Assessment]) -> str:
    """Return the sentence of a chunk that matches the question best, on one line; its beginning when it has none."""
    chunk = seen[0].chunk
    scored = [(match.score, -index) for one in seen for index, match in enumerate(one.matches)]
    best = chunk.sentences[-max(scored)[1]] if scored else chunk.text[: 4 * SUMMARY_CHARS]
    line = " ".join(best.split()) or chunk.chunk_id
    if len(line) <= SUMMARY_CHARS:
        return line
    return f"{line[: SUMMARY_CHARS - 3].rsplit(' ', 1)[0]}..."


def _reasoning(
    ranked: Sequence[tuple[str, float]], scores: Sequence[float], answered: int, parts: int, threshold: float
) -> str:
    """Explain the rating by counts and scores, without a word of the documents."""
    if not scores:
        return f"No relevant chunks among {len(ranked)} (best score: {ranked[0][1]:.2f}, threshold: {threshold:.2f})"
    found = f"{len(scores)} relevant chunk{'s' if len(scores) > 1 else ''} found"
    average = f"(avg score: {sum(scores) / len(scores):.2f})"
    if not answered:
        return f"{found} {average}, answer not found in {'them' if len(scores) > 1 else 'it'}"
    present = "answer fully present" if answered == parts else f"answer present for {answered} of {parts} parts"
    return f"{found} {average}, {present}"


class ValidationError(InvalidInput):
    """A value breaks a rule of the document; ``details["field"]`` names the argument."""

    def __init__(self, message: str, field: str = "query") -> None:
        super().__init__(message, field)


def check_arguments(query: Any, chunks: Any, relevance_threshold: Any, request_id: Any) -> None:
    """Check every argument, in order. Raises ``TypeError`` for a wrong type, ``ValidationError`` for a wrong value."""
    _check_query(query)
    _check_chunks(chunks)
    if not _is_number(relevance_threshold):
        raise TypeError("Relevance threshold must be a number")
    if not 0.0 <= relevance_threshold <= 1.0:
        raise ValidationError("Relevance threshold must be between 0.0 and 1.0", "relevance_threshold")
    if request_id is not None and not isinstance(request_id, str):
        raise TypeError("Request ID must be a string or None")


def _check_query(query: Any) -> None:
    if not isinstance(query, str):
        raise TypeError("Query must be a string")
    if len(query.strip()) < LEAST_QUERY_CHARS:
        raise ValidationError(f"Query must be at least {LEAST_QUERY_CHARS} characters")
    if len(query) > MOST_QUERY_CHARS:
        raise ValidationError(f"Query must not exceed {MOST_QUERY_CHARS} characters")


def _check_chunks(chunks: Any) -> None:
    if not isinstance(chunks, list):
        raise TypeError("Chunks must be a list")
    if len(chunks) > MOST_CHUNKS:
        raise ValidationError(f"Cannot process more than {MOST_CHUNKS} chunks", "chunks")
    for index, chunk in enumerate(chunks):
        _check_chunk(index, chunk)
    if len({chunk["chunk_id"] for chunk in chunks}) != len(chunks):
        raise ValidationError("Duplicate chunk IDs found", "chunks")


def _check_chunk(index: int, chunk: Any) -> None:
    """Check one chunk. An absent, None or empty id or text is missing; another type than text is wrong."""
    if not isinstance(chunk, dict):
        raise TypeError(f"Chunk at index {index} must be a dict")
    chunk_id, text = chunk.get("chunk_id"), chunk.get("text")
    if not chunk_id:
        raise ValidationError(f"Chunk at index {index} missing chunk_id", "chunks")
    if not isinstance(chunk_id, str):
        raise TypeError(f"Chunk at index {index}: chunk_id must be a string")
    if not text:
        raise ValidationError(f"Chunk {chunk_id} missing text", "chunks")
    if not isinstance(text, str):
        raise TypeError(f"Chunk {chunk_id}: text must be a string")
    metadata, score = chunk.get("metadata"), chunk.get("score")
    if metadata is not None and not isinstance(metadata, dict):
        raise TypeError(f"Chunk {chunk_id}: metadata must be a dict")
    if score is not None and not _is_number(score):
        raise TypeError(f"Chunk {chunk_id}: score must be a number")


def _is_number(value: Any) -> bool:
    """Whether *value* is a real number, numpy's included. Booleans are rejected."""
    return isinstance(value, Real) and not isinstance(value, bool)
