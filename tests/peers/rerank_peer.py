"""A peer that reranks as servers of one's own do: Text Embeddings Inference's ``/rerank``, and ``/v1/rerank``."""

from __future__ import annotations

import json
from typing import Any

from tests.peers.http_peer import HttpPeer
from tests.peers.reading import overlap
from tests.peers.wire import Received, Reply, refusal


class RerankPeer(HttpPeer):
    """Wants ``key`` in every request, unless it is empty."""

    def __init__(self, key: str = "") -> None:
        super().__init__()
        self.key = key
        self.scores: list[float] | None = None
        """Scores of the next reranks, by place; None: by the words that are shared."""

    async def respond(self, request: Received) -> Reply:
        if self.key and request.headers.get("authorization") != f"Bearer {self.key}":
            return refusal(401)
        match request.method, request.path, request.body:
            case "POST", "/rerank", {"query": str(query), "texts": [_, *_] as texts, "raw_scores": False}:
                return self._ranked(query, texts, "score", lambda ranks: ranks)
            case "POST", "/v1/rerank", {"model": str(model), "query": str(query), "documents": [_, *_] as texts}:
                return self._ranked(
                    query, texts, "relevance_score", lambda ranks: {"id": "r", "model": model, "results": ranks}
                )
        return refusal(404 if request.path not in ("/rerank", "/v1/rerank") else 422)

    def _ranked(self, query: str, texts: list[str], name: str, shape: Any) -> Reply:
        scores = self.scores or [overlap(query, text) for text in texts]
        ranks = [{"index": i, name: scores[i]} for i in range(len(texts))]
        return Reply(json.dumps(shape(sorted(ranks, key=lambda rank: -rank[name]))).encode())
