"""``Answer``, what ``RAGService.query`` returns, and its five error types as exceptions."""

from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from answering.render import named
from graph.errors import CollectionMissing, Outcome, RAGError, UnknownSource
from graph.state import Result

FOUND = "Answer found."
NOT_FOUND = "Information not found in the knowledge base."
UNAVAILABLE = "Service temporarily unavailable. Please try again."
NO_CITATIONS = "The model's answer carried no citation that its source supports."


class AnswerCitation(BaseModel):
    """One verified citation: ``quote`` is verbatim from the chunk, ``score`` its support in [0, 1]."""

    model_config = ConfigDict(from_attributes=True, populate_by_name=True)

    document: str = Field(validation_alias=AliasChoices("document", "source"))
    page: int | None
    section: str | None
    chunk_id: str
    quote: str
    score: float = Field(validation_alias=AliasChoices("score", "support"))


class Answer(BaseModel):
    """The answer to one question; without one ``answer`` is None and ``message`` says why."""

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
        """Return ``model_dump``; the document's wrapper calls ``.dict()``."""
        return self.model_dump(**kwargs)


class RAGServiceError(RAGError):
    """The base of the five errors; holds the ``answer``, and the ``http_status`` for a wrapper."""

    http_status = 500

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.error_details or answer.message)
        self.answer = answer


class VectorStoreUnavailable(RAGServiceError):
    """The vector store, the embedding or the reranker did not work."""

    http_status = 503


class OllamaUnavailable(RAGServiceError):
    """The chat model is unreachable, missing, broken or busy."""

    http_status = 503


class NoCitationsFound(RAGServiceError):
    """The model answered without a valid citation; over HTTP it is an "I don't know"."""

    http_status = 200


class InvalidQuery(RAGServiceError):
    """The question or a filter is malformed."""

    http_status = 400


class GenerationTimeout(RAGServiceError):
    """The chat model timed out."""

    http_status = 504


ERRORS: dict[Outcome, type[RAGServiceError]] = {
    "invalid_input": InvalidQuery,
    "retrieval_failed": VectorStoreUnavailable,
    "rerank_failed": VectorStoreUnavailable,
    "synthesis_failed": OllamaUnavailable,
    "synthesis_timeout": GenerationTimeout,
    "overloaded": OllamaUnavailable,
    "no_citations": NoCitationsFound,
}
"""The error by outcome; other outcomes are no error."""


def answer_of(result: Result) -> Answer:
    """Convert a ``Result``; a missing collection or source is no error here ("return I don't know")."""
    failure = result.failure
    missing = failure is not None and failure.error_type in (CollectionMissing.__name__, UnknownSource.__name__)
    error = None if missing else ERRORS.get(result.outcome)
    message, details = FOUND if result.answered else NOT_FOUND, NO_CITATIONS if error else None
    if error and failure:
        message, details = failure.message if error is InvalidQuery else UNAVAILABLE, failure.message
    return Answer(
        answer=named(result.pieces, result.citations) if result.answered else None,
        citations=[AnswerCitation.model_validate(citation) for citation in result.citations],
        confidence=0.0 if failure else result.confidence,
        message=message,
        request_id=result.request_id,
        processing_time_ms=result.processing_ms,
        error_type=error.__name__ if error else None,
        error_details=details,
    )
