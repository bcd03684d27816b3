"""Door L's ``Answer``: what ``RAGService.query`` returns (contract, Door L; the document's error response format)."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from graph.citing.render import named
from graph.errors import CollectionMissing, Outcome
from graph.result import Result

NOT_FOUND = "Information not found in the knowledge base."
UNAVAILABLE = "Service temporarily unavailable. Please try again."

ERROR_TYPES: dict[Outcome, str] = {
    "invalid_input": "InvalidQuery",
    "retrieval_failed": "VectorStoreUnavailable",
    "rerank_failed": "VectorStoreUnavailable",
    "synthesis_failed": "OllamaUnavailable",
    "synthesis_timeout": "GenerationTimeout",
    "overloaded": "OllamaUnavailable",
    "no_citations": "NoCitationsFound",
}
"""The document's five error types by outcome; other outcomes are no error."""


class AnswerCitation(BaseModel):
    """One verified citation; ``quote`` is verbatim from the chunk, ``score`` its support in [0, 1]."""

    document: str
    page: int | None
    section: str | None
    chunk_id: str
    quote: str
    score: float


class Answer(BaseModel):
    """The answer to one question; ``answer`` is None where there is none, and ``message`` says why."""

    model_config = ConfigDict(frozen=True)

    answer: str | None
    citations: list[AnswerCitation]
    confidence: float
    message: str
    request_id: str
    processing_time_ms: int
    error_type: str | None = None
    error_details: str | None = None

    def dict(self, **kwargs: Any) -> dict[str, Any]:
        """The document's wrapper calls ``.dict()``; the same as ``model_dump``."""
        return self.model_dump(**kwargs)


def answer_of(result: Result) -> Answer:
    """The ``Answer`` of a ``Result``."""
    failure = None if _nothing_to_search(result) else result.failure
    error_type = ERROR_TYPES.get(result.outcome) if failure or result.outcome == "no_citations" else None
    message = "Answer found." if result.answered else NOT_FOUND
    if failure:
        message = failure.message if result.outcome == "invalid_input" else UNAVAILABLE
    return Answer(
        answer=named(result.pieces, result.citations) if result.answered else None,
        citations=[
            AnswerCitation(
                document=citation.source,
                page=citation.page,
                section=citation.section,
                chunk_id=citation.chunk_id,
                quote=citation.quote,
                score=citation.support,
            )
            for citation in result.citations
        ],
        confidence=0.0 if result.failure else result.confidence,
        message=message,
        request_id=result.request_id,
        processing_time_ms=result.processing_ms,
        error_type=error_type,
        error_details=failure.message if failure else _why(result),
    )


def _nothing_to_search(result: Result) -> bool:
    """A missing collection is no error through this door (the document: "return I don't know")."""
    return result.failure is not None and result.failure.error_type == CollectionMissing.__name__


def _why(result: Result) -> str | None:
    return (
        "The model's answer carried no citation that its source supports." if result.outcome == "no_citations" else None
    )
