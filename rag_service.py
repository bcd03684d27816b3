"""Door L: ``from rag_service import RAGService``; and what documents L and S name for import beside it.

Each name is fetched when it is first asked for, so that importing this module costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from app.ingest.tasks import Task
    from app.library.answer import Answer, AnswerCitation
    from app.library.errors import (
        GenerationTimeout,
        InvalidQuery,
        NoCitationsFound,
        OllamaUnavailable,
        RAGServiceError,
        VectorStoreUnavailable,
    )
    from app.library.rag_service import RAGService
    from app.query_service.chunk_search import SearchHit, SearchResults
    from app.tasks.chat import LLMService
    from app.tasks.context import CONTEXT_BUDGET_ALLOCATION, estimate_tokens, truncate_to_budget
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

_HOMES = {
    "app.library.answer": ("Answer", "AnswerCitation"),
    "app.ingest.tasks": ("Task",),
    "app.library.errors": (
        "GenerationTimeout", "InvalidQuery", "NoCitationsFound", "OllamaUnavailable", "RAGServiceError",
        "VectorStoreUnavailable",
    ),
    "app.library.rag_service": ("RAGService",),
    "app.query_service.search": ("SearchHit", "SearchResults"),
    "app.tasks.chat": ("LLMService",),
    "app.tasks.context": ("CONTEXT_BUDGET_ALLOCATION", "estimate_tokens", "truncate_to_budget"),
    "app.tasks.models": ("ChatRequest", "RAGContextRequest", "SearchResult", "SemanticSearchResponse"),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return globals().setdefault(name, getattr(import_module(home), name))
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
