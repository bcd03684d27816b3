"""langchain-cohere's reranker, with a score for every document and without a thread per call."""

from collections.abc import Sequence
from typing import Any

from langchain_cohere import CohereRerank

from app.providers.http.transport import AiohttpTransport
from app.providers.rerank.scores import ScoringReranker


class CohereReranker(ScoringReranker, CohereRerank):
    """Cohere's ``/v2/rerank``, one request per call; raises the SDK's errors.

    langchain-cohere 0.6 inherits ``acompress_documents`` (pull request 134), which runs in an uncancellable thread.
    """

    async_client: Any
    transport: AiohttpTransport

    async def ascores(self, query: str, texts: Sequence[str]) -> list[tuple[int, float]]:
        reply = await self.async_client.rerank(model=self.model, query=query, documents=texts, top_n=len(texts))
        return [(result.index, result.relevance_score) for result in reply.results]

    async def aclose(self) -> None:
        await self.transport.aclose()
