"""Door L: ``from rag_service import RAGService``."""

from app.answer import Answer, AnswerCitation
from app.library_errors import (
    GenerationTimeout,
    InvalidQuery,
    NoCitationsFound,
    OllamaUnavailable,
    RAGServiceError,
    VectorStoreUnavailable,
)
from app.rag_service import RAGService

__all__ = [
    "Answer",
    "AnswerCitation",
    "GenerationTimeout",
    "InvalidQuery",
    "NoCitationsFound",
    "OllamaUnavailable",
    "RAGService",
    "RAGServiceError",
    "VectorStoreUnavailable",
]
