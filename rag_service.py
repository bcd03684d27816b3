"""The library: ``from rag_service import RAGService``, and the other names that the documents import."""

from app.ingest.tasks import Task
from app.library.answer import (
    Answer,
    AnswerCitation,
    GenerationTimeout,
    InvalidQuery,
    NoCitationsFound,
    OllamaUnavailable,
    RAGServiceError,
    VectorStoreUnavailable,
)
from app.library.rag_service import RAGService
from app.query_service.chunk_search import SearchHit, SearchResults
from app.tasks.chat import CONTEXT_BUDGET_ALLOCATION, LLMService, estimate_tokens, truncate_to_budget
from app.tasks.models import ChatRequest, RAGContextRequest, SearchResult, SemanticSearchResponse

__all__ = [
    "CONTEXT_BUDGET_ALLOCATION",
    "Answer",
    "AnswerCitation",
    "ChatRequest",
    "GenerationTimeout",
    "InvalidQuery",
    "LLMService",
    "NoCitationsFound",
    "OllamaUnavailable",
    "RAGContextRequest",
    "RAGService",
    "RAGServiceError",
    "SearchHit",
    "SearchResult",
    "SearchResults",
    "SemanticSearchResponse",
    "Task",
    "VectorStoreUnavailable",
    "estimate_tokens",
    "truncate_to_budget",
]
