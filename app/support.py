"""Closeness in meaning of an answer's sentence and its quote, by the embedding model."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_core.embeddings import Embeddings

from app.providers.vectors import Vectors, adocument_vectors, makes_arrays
from graph.errors import EmbeddingUnavailable, GardenError


class EmbeddingSupport:
    """``graph.ports.SupportScorer`` over any LangChain ``Embeddings``."""

    def __init__(self, embeddings: Embeddings) -> None:
        self._embeddings = embeddings

    async def similarities(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        """Return one cosine in [-1, 1] per pair; every distinct text is embedded once, all in one call.

        Raises ``EmbeddingUnavailable`` for whatever the model's own code raises.
        """
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        try:
            vectors = await self._vectors(texts)
        except GardenError:
            raise
        except Exception as error:
            raise EmbeddingUnavailable("The embedding model did not compare the answer with its sources.") from error
        row = {text: vectors[i] for i, text in enumerate(texts)}
        return [float(row[left] @ row[right]) for left, right in pairs]

    async def _vectors(self, texts: list[str]) -> Vectors:
        """The embedded model's questions and documents are of one kind, and its questions are remembered.

        So a sentence of a chunk that is cited again and again is embedded once.
        """
        if makes_arrays(self._embeddings):
            return await self._embeddings.aquestion_array(texts)
        return await adocument_vectors(self._embeddings, texts)
