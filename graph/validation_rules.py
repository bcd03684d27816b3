"""Check the arguments of ``validate_retrieval`` by the document's rules, with its messages."""

from __future__ import annotations

from numbers import Real
from typing import Any

from graph.errors import InvalidInput

LEAST_QUERY_CHARS, MOST_QUERY_CHARS, MOST_CHUNKS = 3, 500, 50


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
