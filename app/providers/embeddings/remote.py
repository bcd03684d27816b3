"""Make any remote LangChain ``Embeddings`` safe to use: limits, retries, error mapping."""

from functools import partial
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from langchain_core.utils.iter import batch_iterate

from app.providers.blocking import AsyncEmbeddings
from app.providers.http.error_mapping import embedding_error
from app.providers.http.retry import GuardedCalls
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

    def __init__(self, inner: Embeddings, *, batch: int = 64, seconds: float = QUESTION_SECONDS) -> None:
        self.inner = inner
        self.dimension = None
        self._batch = batch
        self._questions = GuardedCalls(embedding_error, seconds, seconds)
        self._batches = GuardedCalls(embedding_error, BATCH_SECONDS, BATCH_SECONDS)

    async def aprobe(self) -> None:
        """Embed a word, unless the model has answered before."""
        if self.dimension is None:
            await self.aembed_query("ready?")

    async def aembed_query(self, text: str) -> list[float]:

        async def ask() -> list[float]:
            return self._checked([await self.inner.aembed_query(text)], 1)[0]

        return await self._questions.acall(ask)

    async def aembed_documents(self, texts: list[str]) -> Rows:

        async def ask(batch: list[str]) -> Rows:
            return self._checked(await self.inner.aembed_documents(batch), len(batch))

        batches = batch_iterate(self._batch, texts)
        return [row for batch in batches for row in await self._batches.acall(partial(ask, batch))]

    def _checked(self, rows: Any, count: int) -> Rows:
        """Check that there are *count* vectors of finite numbers, all of one size."""
        sizes = {len(row) for row in rows} | ({self.dimension} if self.dimension else set())
        misshapen = len(rows) != count or len(sizes) != 1 or 0 in sizes
        if misshapen or not np.isfinite(vectors := np.asarray(rows, np.float64)).all():
            raise EmbeddingUnavailable("The embedding model did not return one vector of finite numbers for each text.")
        self.dimension = len(rows[0])
        checked: Rows = vectors.tolist()
        return checked
