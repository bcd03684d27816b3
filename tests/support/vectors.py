"""Unit vectors of texts, for comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.embeddings import Embeddings

from app.providers.embeddings.vectors import Vectors, unit


def document_vectors(embeddings: Embeddings, texts: Sequence[str]) -> Vectors:
    """Embed texts to be stored, float32 [texts, d]."""
    return unit(embeddings.embed_documents(list(texts)))


def question_vector(embeddings: Embeddings, text: str) -> Vectors:
    """Embed one question, float32 [d]."""
    return unit(embeddings.embed_query(text))
