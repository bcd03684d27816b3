"""Rerankers that score every document; those over HTTP: Text Embeddings Inference, or Cohere's and Jina's API.

The first takes ``{"query", "texts", "raw_scores", "truncate"}`` and answers ``[{"index", "score"}]``
(huggingface.github.io/text-embeddings-inference); the second, as vLLM, llama.cpp, LocalAI and Infinity serve it, takes
``{"model", "query", "documents", "top_n"}`` and answers ``{"results": [{"index", "relevance_score"}]}``.
"""

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import httpx
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import ConfigDict

from answering.relevance.graders import logistic
from app.providers.blocking import run_blocking

SCORE = "relevance_score"
"""The key of ``Document.metadata`` that holds the reranker's score, as LangChain's own rerankers name it."""
TOLERANCE = 0.01
"""How far rounding may put a probability outside of [0, 1]; llama.cpp sends log-odds, which go further."""
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


class HttpReranker(ScoringReranker):
    """``POST /rerank`` by ``http``, one request per call; without ``model`` in TEI's format.

    Raises what ``httpx`` raises, and ``KeyError``, ``TypeError`` or ``ValueError`` for an answer of another shape.
    """

    http: httpx.AsyncClient
    """Knows the server's address, the key and the time limit of each connect and each read."""
    model: str | None = None

    _log_odds: bool = False
    """Set by the first score that is no probability: from then on the server's scores are read as log-odds."""

    async def ascores(self, query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
        body: dict[str, Any] = {"query": query, "texts": texts, "raw_scores": False, "truncate": True}
        if self.model is not None:
            body = {"model": self.model, "query": query, "documents": texts, "top_n": len(texts)}
        response = await self.http.post("/rerank", json=body)
        response.raise_for_status()
        content = response.json()
        rows, name = (content, "score") if self.model is None else (content["results"], "relevance_score")
        scores = [(int(row["index"]), float(row[name])) for row in rows]
        self._log_odds = self._log_odds or any(0.5 + TOLERANCE < abs(score - 0.5) < math.inf for _, score in scores)
        return [(index, logistic(score)) for index, score in scores] if self._log_odds else scores

    async def aclose(self) -> None:
        await self.http.aclose()


def log_odds_of(probability: float) -> float:
    """Return the log-odds of *probability*, within ±13.8."""
    inside = min(1.0 - _EDGE, max(_EDGE, probability))
    return math.log(inside / (1.0 - inside))
