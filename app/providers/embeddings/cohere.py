"""Cohere's embeddings over its HTTP interface (docs.cohere.com, "Embed API (v2)").

Spoken to directly, for two reasons: the SDK takes seconds to import, and LangChain's wrapper over it repeats a refused
key and offers no time limit. Questions and documents go with the ``input_type`` each is meant to have.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx
from langchain_core.embeddings import Embeddings
from pydantic import SecretStr

from app.providers.http.cohere_client import COHERE_URL
from app.providers.http.transport import AiohttpTransport

MOST_TEXTS = 96
"""Texts Cohere takes in one request."""


class CohereEmbeddings(Embeddings):
    """One request per call, no retries; raises what ``httpx`` raises, or ``KeyError`` for a body of another shape."""

    def __init__(self, model: str, key: SecretStr, base_url: str = "", *, seconds: float) -> None:
        """*seconds* limits each connect and each read."""
        self.model = model
        self._options: dict[str, Any] = {
            "base_url": base_url or COHERE_URL,
            "headers": {"Authorization": f"Bearer {key.get_secret_value()}"},
            "timeout": seconds,
        }
        # No idle connection is kept, so that the client needs no closing.
        self._http = httpx.Client(**self._options, limits=httpx.Limits(max_keepalive_connections=0))
        self._ahttp = httpx.AsyncClient(**self._options, transport=AiohttpTransport(kept=False))

    def embed_query(self, text: str) -> list[float]:
        """The vector of a question."""
        return _vectors(self._http.post("/v2/embed", json=self._body([text], "search_query")))[0]

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The vectors of at most ``MOST_TEXTS`` texts to be stored."""
        return _vectors(self._http.post("/v2/embed", json=self._body(texts, "search_document")))

    async def aembed_query(self, text: str) -> list[float]:
        """``embed_query`` on the event loop; cancelling it ends the request."""
        return _vectors(await self._ahttp.post("/v2/embed", json=self._body([text], "search_query")))[0]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """``embed_documents`` on the event loop; cancelling it ends the request."""
        return _vectors(await self._ahttp.post("/v2/embed", json=self._body(texts, "search_document")))

    def _body(self, texts: Sequence[str], input_type: str) -> dict[str, Any]:
        return {
            "model": self.model,
            "texts": list(texts),
            "input_type": input_type,
            "embedding_types": ["float"],
            "truncate": "END",
        }


def _vectors(response: httpx.Response) -> list[list[float]]:
    response.raise_for_status()
    rows: list[list[float]] = response.json()["embeddings"]["float"]
    return rows
