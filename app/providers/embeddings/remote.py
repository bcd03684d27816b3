"""Any LangChain ``Embeddings`` that works over a wire, made safe to use: limits, retries, a circuit, errors of ours."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain_core.embeddings import Embeddings

from app.providers.http.circuit import Circuit
from app.providers.http.error_mapping import embedding_error
from app.providers.http.guarded_calls import GuardedCalls
from app.providers.http.retry import Retry
from graph.errors import EmbeddingUnavailable

QUESTION_SECONDS = 10.0
"""Total time of embedding one question, retries included."""
BATCH_SECONDS = 60.0
"""Total time of embedding one batch of texts to be stored."""

Rows = list[list[float]]


class RemoteEmbeddings(Embeddings):
    """Passes texts on to ``inner``, at most ``batch`` at a time. Every method raises ``EmbeddingUnavailable``.

    ``dimension`` is None until the first vector has come; from then on another size is an error.
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
        limits: dict[str, Any] = {"circuit": self.circuit, "error": embedding_error, "resting": _resting}
        if retry:
            limits["retry"] = retry
        self._questions = GuardedCalls(seconds=seconds, total=seconds, **limits)
        self._batches = GuardedCalls(seconds=BATCH_SECONDS, total=BATCH_SECONDS, **limits)

    async def aembed_query(self, text: str) -> list[float]:
        """The vector of a question."""

        async def ask() -> list[float]:
            return self._checked([await self.inner.aembed_query(text)], 1)[0]

        return await self._questions.acall(ask)

    async def aembed_documents(self, texts: list[str]) -> Rows:
        """One vector per text, in order."""
        rows: Rows = []
        for part in self._parts(texts):
            rows += await self._batches.acall(self._asking(part))
        return rows

    def embed_query(self, text: str) -> list[float]:
        """``aembed_query`` for code that blocks."""
        return self._questions.call(lambda: self._checked([self.inner.embed_query(text)], 1)[0])

    def embed_documents(self, texts: list[str]) -> Rows:
        """``aembed_documents`` for code that blocks."""
        rows: Rows = []
        for part in self._parts(texts):
            rows += self._batches.call(lambda part=part: self._checked(self.inner.embed_documents(part), len(part)))  # type: ignore[misc]
        return rows

    def _asking(self, part: list[str]) -> Callable[[], Awaitable[Rows]]:
        async def ask() -> Rows:
            return self._checked(await self.inner.aembed_documents(part), len(part))

        return ask

    def _parts(self, texts: Sequence[str]) -> list[list[str]]:
        return [list(texts[at : at + self._batch]) for at in range(0, len(texts), self._batch)]

    def _checked(self, rows: Any, count: int) -> Rows:
        """The rows, when they are what was asked for: so many vectors of finite numbers, all of one size."""
        made = [[float(value) for value in row] for row in rows]
        sizes = {len(row) for row in made} | ({self.dimension} if self.dimension else set())
        if len(made) != count or len(sizes) != 1 or 0 in sizes:
            raise EmbeddingUnavailable("The embedding model did not give one vector of the same size for each text.")
        if not all(map(math.isfinite, (value for row in made for value in row))):
            raise EmbeddingUnavailable("The embedding model gave a vector that is not made of numbers.")
        self.dimension = len(made[0])
        return made


def _resting() -> EmbeddingUnavailable:
    return EmbeddingUnavailable("The embedding model has failed repeatedly and is left alone for a moment.")
