"""Rerankers on a server of the user's own: Text Embeddings Inference, and those that speak as Cohere and Jina do.

The first takes ``{"query", "texts", "raw_scores", "truncate"}`` and answers ``[{"index", "score"}]``
(huggingface.github.io/text-embeddings-inference); the second, as vLLM, llama.cpp, LocalAI and Infinity serve it, takes
``{"model", "query", "documents", "top_n"}`` and answers ``{"results": [{"index", "relevance_score"}]}``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import httpx
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import PrivateAttr, SecretStr

from app.providers.rerank.scores import with_scores

TOLERANCE = 0.01
"""How far a probability may be outside of [0, 1] by rounding; llama.cpp sends log-odds, which leave it at once."""


class HttpReranker(BaseDocumentCompressor):
    """``POST {url}/rerank``; without ``model`` as Text Embeddings Inference has it. One call is one request.

    Raises what ``httpx`` raises, and ``KeyError``, ``TypeError`` or ``ValueError`` for an answer of another shape.
    """

    url: str
    key: SecretStr
    seconds: float
    """Limit of each connect and each read."""
    model: str | None = None

    _log_odds: bool = PrivateAttr(default=False)
    """Set by the first score that is no probability: from then on the server's scores are read as log-odds."""

    @cached_property
    def http(self) -> httpx.AsyncClient:
        """The connections, made when first used."""
        from app.providers.http.transport import AiohttpTransport

        return httpx.AsyncClient(**self._options(), transport=AiohttpTransport())

    def compress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """Every document with its score in its metadata, best first; an empty list makes no call."""
        if not documents:
            return []
        with httpx.Client(**self._options()) as http:
            return self._scored(documents, http.post("/rerank", json=self._body(documents, query)))

    async def acompress_documents(
        self, documents: Sequence[Document], query: str, callbacks: Callbacks | None = None
    ) -> Sequence[Document]:
        """``compress_documents`` on the event loop; cancelling it ends the request."""
        if not documents:
            return []
        return self._scored(documents, await self.http.post("/rerank", json=self._body(documents, query)))

    async def aclose(self) -> None:
        """Close the connections."""
        if "http" in self.__dict__:
            await self.http.aclose()

    def _options(self) -> dict[str, Any]:
        key = self.key.get_secret_value()
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        return {"base_url": self.url, "headers": headers, "timeout": self.seconds}

    def _body(self, documents: Sequence[Document], query: str) -> dict[str, Any]:
        texts = [document.page_content for document in documents]
        if self.model is None:
            return {"query": query, "texts": texts, "raw_scores": False, "truncate": True}
        return {"model": self.model, "query": query, "documents": texts, "top_n": len(texts)}

    def _scored(self, documents: Sequence[Document], response: httpx.Response) -> list[Document]:
        response.raise_for_status()
        content = response.json()
        rows, name = (content, "score") if self.model is None else (content["results"], "relevance_score")
        found = [(int(row["index"]), float(row[name])) for row in rows]
        self._log_odds = self._log_odds or any(0.5 + TOLERANCE < abs(score - 0.5) < math.inf for _, score in found)
        return with_scores(documents, found, log_odds=self._log_odds)
