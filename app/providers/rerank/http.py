"""Call a reranker over HTTP: Text Embeddings Inference, or Cohere's and Jina's API.

The first takes ``{"query", "texts", "raw_scores", "truncate"}`` and answers ``[{"index", "score"}]``
(huggingface.github.io/text-embeddings-inference); the second, as vLLM, llama.cpp, LocalAI and Infinity serve it, takes
``{"model", "query", "documents", "top_n"}`` and answers ``{"results": [{"index", "relevance_score"}]}``.
"""

import math
from collections.abc import Sequence
from typing import Any

import httpx

from answering.relevance.graders import logistic
from app.providers.rerank.scores import ScoringReranker

TOLERANCE = 0.01
"""How far rounding may put a probability outside of [0, 1]; llama.cpp sends log-odds, which go further."""


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
