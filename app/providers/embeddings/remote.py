"""Make any remote LangChain ``Embeddings`` safe to use: limits, retries, circuit breaker, error mapping."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from langchain_core.embeddings import Embeddings

from app.providers.blocking import AsyncEmbeddings
from app.providers.http.circuit import Circuit
from app.providers.http.error_mapping import embedding_error
from app.providers.http.retry import GuardedCalls, Retry
from graph.errors import EmbeddingUnavailable

QUESTION_SECONDS = 10.0
"""Total time of embedding one question, retries included."""
BATCH_SECONDS = 60.0
"""Total time of embedding one batch of texts to be stored."""

Rows = list[list[float]]


class RemoteEmbeddings(AsyncEmbeddings):
    """Passes texts on to ``inner``, at most ``batch`` at a time. Every method raises ``EmbeddingUnavailable``.

    ``dimension`` is None until the first vector has arrived; from then on another size is an error.
    """

    def __init__(
        self,
        inner: Embeddings,
        *,
        batch: int = 64,
        seconds: float = QUESTION_SECONDS,
        retry: Retry | None = None,
        circuit: Circuit | None = None,
    ) -> None:
        """``seconds`` is the total time of a question."""
        self.inner = inner
        self.dimension: int | None = None
        self.circuit = circuit or Circuit("embedding")
        self._batch = batch
        calls = partial(GuardedCalls, self.circuit, embedding_error, _circuit_open, retry=retry or Retry())
        self._questions = calls(seconds, seconds)
        self._batches = calls(BATCH_SECONDS, BATCH_SECONDS)

    async def aembed_query(self, text: str) -> list[float]:
        """Return the vector of a question."""

        async def ask() -> list[float]:
            return self._checked([await self.inner.aembed_query(text)], 1)[0]

        return await self._questions.acall(ask)

    async def aembed_documents(self, texts: list[str]) -> Rows:
        """Return one vector per text, in order."""

        async def ask(part: list[str]) -> Rows:
            return self._checked(await self.inner.aembed_documents(part), len(part))

        parts = [texts[start : start + self._batch] for start in range(0, len(texts), self._batch)]
        return [row for part in parts for row in await self._batches.acall(partial(ask, part))]

    def _checked(self, rows: Any, count: int) -> Rows:
        """Check that there are *count* vectors of finite numbers, all of one size."""
        vectors = [[float(value) for value in row] for row in rows]
        sizes = {len(vector) for vector in vectors} | ({self.dimension} if self.dimension else set())
        if len(vectors) != count or len(sizes) != 1 or 0 in sizes:
            raise EmbeddingUnavailable("The embedding model did not return one vector of the same size for each text.")
        if not all(map(math.isfinite, (value for vector in vectors for value in vector))):
            raise EmbeddingUnavailable("The embedding model returned a vector with a value that is not finite.")
        self.dimension = len(vectors[0])
        return vectors


def _circuit_open() -> EmbeddingUnavailable:
    return EmbeddingUnavailable("The embedding model has failed repeatedly; it is tried again in a moment.")
