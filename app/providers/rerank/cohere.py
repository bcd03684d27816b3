"""Cohere's reranker over its own SDK."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import ConfigDict

from app.providers.http.cohere_client import NO_RETRIES, CohereConnection
from app.providers.rerank.scores import with_scores


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
    return with_scores(documents, [(int(one.index), float(one.relevance_score)) for one in response.results or ()])
