"""Rerankers that score every document, and scores as probabilities."""

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import ConfigDict

from app.providers.blocking import run_blocking

SCORE = "relevance_score"
"""The key of ``Document.metadata`` that holds the reranker's score, as LangChain's own rerankers name it."""
_EDGE = 1e-6


class ScoringReranker(BaseDocumentCompressor):
    """A reranker with one asynchronous operation, ``ascores``."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @abstractmethod
    async def ascores(self, query: str, texts: Sequence[str]) -> Iterable[tuple[int, float]]:
        """Return (position, probability) of every text, in any order; at least one text."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close connections and threads."""

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Copy the documents with scores clipped to [0, 1], best first; none make no call.

        Raises ``ValueError`` when a score is not finite, or when a document has none; and what ``ascores`` raises.
        """
        scores = dict(await self.ascores(query, [document.page_content for document in documents])) if documents else {}
        if scores.keys() != set(range(len(documents))) or not all(map(math.isfinite, scores.values())):
            raise ValueError("the scores do not belong to the documents")
        scored = [
            document.model_copy(update={"metadata": {**document.metadata, SCORE: min(1.0, max(0.0, scores[position]))}})
            for position, document in enumerate(documents)
        ]
        return sorted(scored, key=lambda document: -document.metadata[SCORE])

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """``acompress_documents`` for code that blocks."""
        return run_blocking(self.acompress_documents(documents, query))


def log_odds_of(probability: float) -> float:
    """Return the log-odds of *probability*, within ±13.8."""
    inside = min(1.0 - _EDGE, max(_EDGE, probability))
    return math.log(inside / (1.0 - inside))
