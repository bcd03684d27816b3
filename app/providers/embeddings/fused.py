"""Two or more encoders as one: a dot product of its vectors is a weighted mean of their cosines."""

import asyncio
from collections.abc import Sequence

import numpy as np
from langchain_core.embeddings import Embeddings

from app.providers.blocking import AsyncEmbeddings
from app.providers.embeddings.vectors import Vectors, unit

SPREADS = {"all-MiniLM-L6-v2": 0.092, "all-mpnet-base-v2": 0.091, "bge-small-en-v1.5": 0.063}
"""Standard deviation of each encoder's cosines of questions and chunks: ``training.transfer_relevance``."""


def weights_of(names: Sequence[str]) -> list[float]:
    """Return how much each encoder's cosine counts: standardised cosines count alike; the weights add up to 1.

    Where the spread of one is not known, plain cosines count alike.
    """
    known = [SPREADS.get(name) for name in names]
    shares = [1 / spread for spread in known if spread]
    shares = shares if len(shares) == len(names) else [1.0] * len(names)
    return [share / sum(shares) for share in shares]


class FusedEmbeddings(AsyncEmbeddings):
    """The unit vectors of several *encoders*, each times the root of its weight, one after another.

    The *weights* add up to 1, so the result is a unit vector too.
    """

    def __init__(self, encoders: Sequence[Embeddings], weights: Sequence[float], dimension: int | None) -> None:
        self.dimension = dimension
        self._encoders = encoders
        self._factors = [np.float32(weight**0.5) for weight in weights]

    async def aembed_query(self, text: str) -> list[float]:
        rows = await asyncio.gather(*(encoder.aembed_query(text) for encoder in self._encoders))
        vector: list[float] = self._joined([[row] for row in rows])[0].tolist()
        return vector

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        if not texts:
            return []
        # one after another: each keeps every processor busy
        parts = [await encoder.aembed_documents(texts) for encoder in self._encoders]
        vectors: list[list[float]] = self._joined(parts).tolist()
        return vectors

    def _joined(self, parts: Sequence[Sequence[Sequence[float]]]) -> Vectors:
        scaled = [unit(part) * factor for part, factor in zip(parts, self._factors, strict=True)]
        return np.concatenate(scaled, axis=1)
