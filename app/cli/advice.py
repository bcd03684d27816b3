"""What a person may do about an error: one sentence for each kind, the nearest in the tree counts."""

from __future__ import annotations

from graph.errors import (
    CollectionMissing,
    EmbeddingUnavailable,
    ModelUnavailable,
    Overloaded,
    RAGError,
    RerankFailed,
    RetrievalFailed,
    SynthesisFailed,
    SynthesisTimeout,
)

EMPTY = "Plant documents first: garden ingest PATH…"

ADVICE: dict[type[RAGError], str] = {
    CollectionMissing: f"{EMPTY} or name another VECTOR_STORE_COLLECTION.",
    EmbeddingUnavailable: "Check EMBEDDING_MODEL and that what serves it runs.",
    ModelUnavailable: "Check that the model's server runs and has the model, or unset CHAT_MODEL to do without.",
    Overloaded: "Try again in a moment.",
    RerankFailed: "Check RERANKER and its key; RERANKER=local needs neither.",
    RetrievalFailed: "See which part is down: garden health.",
    SynthesisFailed: "Try again; garden health shows which part is down.",
    SynthesisTimeout: "Try again, or raise OLLAMA_TIMEOUT_SECONDS.",
}
"""Kinds that are not here (a wrong setting, a broken rule) say what is allowed in their own message."""

HEALTH = {
    "degraded": "The chat model is down, search works: check that its server runs, OLLAMA_HOST and CHAT_MODEL.",
    "unhealthy": "Nothing can be answered: check VECTOR_STORE and EMBEDDING_MODEL, and that their servers run.",
}
"""What to do about a status of ``garden health`` that is not well."""


def advised(error: RAGError) -> str:
    """The message of *error* and, in the same line, what to do next."""
    advice = next((ADVICE[kind] for kind in type(error).__mro__ if kind in ADVICE), "")
    return f"{error.message} {advice}".rstrip()
