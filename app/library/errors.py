"""The document's five error types as exceptions, for ``query(…, raise_on_error=True)`` (document L, "Error Types")."""

from __future__ import annotations

from app.library.answer import Answer
from graph.errors import RAGError


class RAGServiceError(RAGError):
    """The root of the five; ``answer`` is what would have been returned, ``http_status`` what a wrapper should send."""

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
    """The model answered without one citation that holds; as an HTTP answer it is an "I don't know"."""

    http_status = 200


class InvalidQuery(RAGServiceError):
    """The question or a filter is malformed."""

    http_status = 400


class GenerationTimeout(RAGServiceError):
    """The chat model did not finish in its time."""

    http_status = 504


BY_NAME: dict[str, type[RAGServiceError]] = {
    kind.__name__: kind
    for kind in (VectorStoreUnavailable, OllamaUnavailable, NoCitationsFound, InvalidQuery, GenerationTimeout)
}


def error_for(answer: Answer) -> RAGServiceError:
    """The exception an ``Answer`` with an ``error_type`` stands for."""
    return BY_NAME[answer.error_type or "OllamaUnavailable"](answer)
