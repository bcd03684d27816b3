"""What the documents show to be imported: names, signatures, defaults and the settings' names, to the letter."""

from __future__ import annotations

import inspect
import subprocess
import sys
from typing import Any

import pytest

import rag_service
from app.settings import load_settings
from rag_service import Answer, RAGService
from retrieval_validation import validate_retrieval
from tests.support.paths import ROOT

REQUIRED = inspect.Parameter.empty


def defaults(function: Any) -> dict[str, Any]:
    """The parameters that may be given by place, and their defaults."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.name != "self"}


@pytest.mark.parametrize(
    ("function", "shown"),
    [
        (
            validate_retrieval,
            {"query": REQUIRED, "chunks": REQUIRED, "relevance_threshold": 0.3, "request_id": None},
        ),
        (RAGService, {"ollama_host": None, "vector_store_url": None, "embedding_model": None}),
        (RAGService.query, {"question": REQUIRED, "filters": None}),
        (RAGService.aquery, {"question": REQUIRED, "filters": None}),
        (RAGService.retrieve, {"query": REQUIRED, "k": 5}),
        (RAGService.health_check, {}),
        (
            RAGService.search,
            {
                "query": REQUIRED, "n_results": 5, "filter_status": None, "filter_priority": None,
                "min_similarity": 0.0,
            },
        ),
        (
            RAGService.build_context,
            {"query": REQUIRED, "n_results": 3, "include_metadata": True, "max_tokens": None},
        ),
        (
            RAGService.chat_with_context,
            {"user_query": REQUIRED, "llm_service": None, "n_results": 3, "max_context_tokens": 1500},
        ),
        (RAGService.index_task, {"task": REQUIRED}),
    ],
)  # fmt: skip
def test_signatures_are_the_documents(function: Any, shown: dict[str, Any]) -> None:
    """Parameters have the documents' names, order and defaults; what is ours beside them is by keyword alone."""
    assert defaults(function) == shown
    assert list(defaults(function)) == list(shown)


@pytest.mark.parametrize("name", ["query", "retrieve", "health_check"])
def test_what_blocks_has_an_awaited_twin(name: str) -> None:
    """The contract's three synchronous methods each have an ``a…`` twin of the same signature."""
    plain, awaited = getattr(RAGService, name), getattr(RAGService, f"a{name}")
    assert not inspect.iscoroutinefunction(plain)
    assert inspect.iscoroutinefunction(awaited)
    assert inspect.signature(plain) == inspect.signature(awaited)


@pytest.mark.parametrize(
    ("name", "default"),
    [
        ("ollama_timeout_seconds", 10.0),
        ("vector_store_url", "http://chromadb:8001"),
        ("vector_store_collection", "corporate_documents"),
        ("vector_store_timeout_seconds", 5.0),
        ("embedding_model", "all-MiniLM-L6-v2"),
        ("min_confidence_threshold", 0.5),
        ("max_retrieval_results", 5),
        ("log_level", "INFO"),
        ("ollama_host", "http://localhost:11434"),
        ("ollama_temperature", 0.1),
        ("ollama_max_tokens", 500),
        ("relevance_threshold", 0.8),
        ("max_query_chars", 2000),
    ],
)
def test_defaults_are_the_documents(name: str, default: Any) -> None:
    """Settings that the documents give a default for have it."""
    assert getattr(load_settings(), name) == default


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("OLLAMA_HOST", "http://ollama:11434"),
        ("OLLAMA_MODEL", "mistral:7b"),
        ("OLLAMA_TIMEOUT_SECONDS", "7.5"),
        ("VECTOR_STORE_URL", "http://store:8001"),
        ("VECTOR_STORE_COLLECTION", "textbook_chunks"),
        ("VECTOR_STORE_TIMEOUT_SECONDS", "3.5"),
        ("EMBEDDING_MODEL", "embed-english-v3.0"),
        ("MIN_CONFIDENCE_THRESHOLD", "0.25"),
        ("MAX_RETRIEVAL_RESULTS", "9"),
        ("LOG_LEVEL", "DEBUG"),
        ("COHERE_API_KEY", "key"),
        ("QDRANT_URL", "http://qdrant:6333"),
        ("QDRANT_API_KEY", "key"),
    ],
)
def test_variables_have_the_documents_names(variable: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each variable of the documents is read under exactly that name."""
    monkeypatch.setenv(variable, value)
    found = getattr(load_settings(), variable.lower())
    assert str(getattr(found, "get_secret_value", lambda: found)()) == value


def test_names_of_documents_l_and_s_are_importable() -> None:
    """``dir(rag_service)`` shows every name it exports, and those of the documents are among them."""
    assert set(rag_service.__all__) <= set(dir(rag_service))
    assert {"RAGService", "SearchResult", "RAGContextRequest", "SemanticSearchResponse"} <= set(rag_service.__all__)
    assert {"CONTEXT_BUDGET_ALLOCATION", "estimate_tokens", "truncate_to_budget"} <= set(rag_service.__all__)
    assert set(Answer.model_fields) == {
        "answer", "citations", "confidence", "message", "request_id", "processing_time_ms", "error_type",
        "error_details",
    }  # fmt: skip


def test_importing_rag_service_loads_no_model() -> None:
    """Importing the module makes no service, and loads no weights, no vendor's package and no web framework."""
    script = (
        "import sys, rag_service;"
        "print(sorted({'onnxruntime', 'usearch', 'qdrant_client', 'cohere', 'ollama', 'fastapi'} & set(sys.modules)));"
        "print([name for name, one in vars(rag_service).items() if isinstance(one, rag_service.RAGService)])"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.split("\n")[:2] == ["[]", "[]"]
