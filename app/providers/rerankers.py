"""Rerankers by name: one function and one table line each. What comes out is LangChain's ``BaseDocumentCompressor``.

``local`` and ``none`` are no vendor's and have none: see ``app/grading.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import ConfigDict

from app.providers.cohere_client import NO_RETRIES, CohereConnection, connect
from app.settings import Settings
from graph.errors import ConfigurationError

RERANK_SECONDS = 5.0
"""Total time of reranking one question's candidates, retries included."""

SCORE = "relevance_score"
"""The key of ``Document.metadata`` that holds the vendor's score, as LangChain's own rerankers name it."""


def make_reranker(settings: Settings) -> BaseDocumentCompressor:
    """The reranker that ``RERANKER=provider:model`` names. It is not contacted. Raises ``ConfigurationError``."""
    provider, _, model = settings.reranking.partition(":")
    if provider not in MAKERS or not model.strip():
        raise ConfigurationError(f"RERANKER={settings.reranking!r} is not allowed: local, none or cohere:MODEL")
    return MAKERS[provider](settings, model)


class CohereReranker(BaseDocumentCompressor):
    """Cohere's ``/v2/rerank``. One call is one request; raises what the SDK raises, for the caller to read."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    connection: CohereConnection
    model: str

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Every document with Cohere's score in its metadata, best first; an empty list makes no call."""
        if not documents:
            return []
        return _scored(documents, self.connection.client.rerank(**self._request(documents, query)))

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """``compress_documents`` on the event loop; cancelling it ends the request."""
        if not documents:
            return []
        return _scored(documents, await self.connection.aclient.rerank(**self._request(documents, query)))

    async def aclose(self) -> None:
        """Close the connections."""
        await self.connection.aclose()

    def _request(self, documents: Sequence[Document], query: str) -> dict[str, Any]:
        return {
            "model": self.model,
            "query": query,
            "documents": [document.page_content for document in documents],
            "top_n": len(documents),
            "request_options": NO_RETRIES,
        }


def _scored(documents: Sequence[Document], response: Any) -> list[Document]:
    """The documents with their scores. Raises ``ValueError`` when the response does not score each of them."""
    scores: dict[int, float] = {}
    for result in response.results or ():
        score = float(result.relevance_score)
        if not math.isfinite(score):
            raise ValueError("a score is not a number")
        scores[int(result.index)] = min(1.0, max(0.0, score))
    if scores.keys() != set(range(len(documents))):
        raise ValueError("the scores are not those of the documents")
    scored = [
        Document(page_content=document.page_content, metadata={**document.metadata, SCORE: scores[i]}, id=document.id)
        for i, document in enumerate(documents)
    ]
    return sorted(scored, key=lambda document: -document.metadata[SCORE])


def _cohere(settings: Settings, model: str) -> BaseDocumentCompressor:
    connection = connect(settings, "RERANKER", RERANK_SECONDS)
    _ = connection.aclient  # now, rather than in the first question's time: the SDK takes seconds to import
    return CohereReranker(connection=connection, model=model)


MAKERS: dict[str, Callable[[Settings, str], BaseDocumentCompressor]] = {
    "cohere": _cohere,
}
"""Provider -> maker."""
