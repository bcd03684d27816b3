"""Unit vectors as arrays, from any LangChain ``Embeddings``.

An embedding object that can make arrays itself (``MiniLMEmbeddings``) is asked for them; another one's lists of floats
are converted, and scaled to length 1, so that a dot product is a cosine whatever the model does.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol, TypeGuard

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import ArrayLike, NDArray

Vectors = NDArray[np.float32]


class ArrayEmbeddings(Protocol):
    """Embeddings that come as float32 [texts, d] without a detour over lists, each row of length 1."""

    def embed_array(self, texts: Sequence[str]) -> Vectors: ...
    def question_array(self, texts: Sequence[str]) -> Vectors: ...
    async def aembed_array(self, texts: Sequence[str]) -> Vectors: ...
    async def aquestion_array(self, texts: Sequence[str]) -> Vectors: ...


def makes_arrays(embeddings: object) -> TypeGuard[ArrayEmbeddings]:
    """Whether these are ``ArrayEmbeddings``, by the one method that every question needs."""
    return hasattr(embeddings, "aquestion_array")


def document_vectors(embeddings: Embeddings, texts: Sequence[str]) -> Vectors:
    """Vectors of texts to be stored, float32 [texts, d]."""
    if not texts:
        return np.zeros((0, 0), np.float32)
    if makes_arrays(embeddings):
        return embeddings.embed_array(texts)
    return unit(embeddings.embed_documents(list(texts)))


async def adocument_vectors(embeddings: Embeddings, texts: Sequence[str]) -> Vectors:
    """``document_vectors`` without holding the event loop."""
    if not texts:
        return np.zeros((0, 0), np.float32)
    if makes_arrays(embeddings):
        return await embeddings.aembed_array(texts)
    return unit(await embeddings.aembed_documents(list(texts)))


def question_vector(embeddings: Embeddings, text: str) -> Vectors:
    """The vector of one question, float32 [d]."""
    if makes_arrays(embeddings):
        row: Vectors = embeddings.question_array([text])[0]
        return row
    return unit(embeddings.embed_query(text))


async def aquestion_vectors(embeddings: Embeddings, texts: Sequence[str]) -> Vectors:
    """The vectors of questions, float32 [texts, d], without holding the event loop."""
    if makes_arrays(embeddings):
        return await embeddings.aquestion_array(texts)
    return unit(await asyncio.gather(*map(embeddings.aembed_query, texts)))


def unit(vectors: ArrayLike | Any) -> Vectors:
    """Rows scaled to length 1, float32; a row of zeros stays as it is."""
    rows = np.asarray(vectors, np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    lengths[lengths == 0.0] = 1.0
    scaled: Vectors = rows / lengths
    return scaled
