"""Search by langchain-qdrant for a question that is embedded already.

``QdrantVectorStore`` has no asynchronous client (langchain-ai/langchain#32195) and embeds the question's text itself,
also in its hybrid mode: so ``search`` blocks, and the two classes here hand it the vectors of the one question.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_qdrant import QdrantVectorStore, RetrievalMode, SparseEmbeddings, SparseVector
from qdrant_client import AsyncQdrantClient, QdrantClient, models

from app.providers.stores.hybrid import HybridQuery
from app.providers.stores.qdrant_points import Layout, sparse_of

MOST_TERMS = 64
"""Terms whose idf is asked for one search; further ones count as the rarest."""
WIDER = 4
"""So many times more are asked for where the server's order is not that of the cosines."""


class QuestionVector(Embeddings):
    """The dense vector of one question, whatever text is asked about."""

    def __init__(self, query: HybridQuery) -> None:
        self._query = query

    def embed_query(self, text: str) -> list[float]:
        """The question's vector."""
        vector: list[float] = self._query.dense.tolist()
        return vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """The question's vector for each text."""
        return [self.embed_query(text) for text in texts]


class QuestionTerms(SparseEmbeddings):
    """The BM25 terms of one question, each of weight 1, whatever text is asked about."""

    def __init__(self, query: HybridQuery) -> None:
        self._query = query

    def embed_query(self, text: str) -> SparseVector:
        """The question's terms."""
        return SparseVector(indices=list(self._query.terms), values=[1.0] * len(self._query.terms))

    def embed_documents(self, texts: list[str]) -> list[SparseVector]:
        """The question's terms for each text."""
        return [self.embed_query(text) for text in texts]


def search(
    client: QdrantClient,
    collection: str,
    layout: Layout,
    query: HybridQuery,
    limit: int,
    chosen: models.Filter | None,
) -> list[str | int]:
    """The ids of the points nearest in either channel: at least *limit* of each, where so many match."""
    hybrid = bool(layout.sparse and query.terms)
    store = QdrantVectorStore(
        client,
        collection,
        QuestionVector(query),
        RetrievalMode.HYBRID if hybrid else RetrievalMode.DENSE,
        layout.dense,
        sparse_embedding=QuestionTerms(query),
        sparse_vector_name=layout.sparse,
        validate_embeddings=False,
        validate_collection_config=False,
    )
    most = limit * (2 if hybrid else 1) * (1 if layout.cosine else WIDER)
    return [document.metadata["_id"] for document in store.similarity_search("", most, chosen)]


async def inverse_document_frequencies(
    client: AsyncQdrantClient, collection: str, layout: Layout, terms: Sequence[int]
) -> dict[int, float]:
    """The idf of terms as the server weighs them; of those past ``MOST_TERMS`` the highest.

    The server has no request for it, but scores a query of one term by stored weight times idf. On several shards
    each has its own; the best hit's counts.
    """
    asked = terms[:MOST_TERMS]
    shared: dict[str, Any] = {"using": layout.sparse, "limit": 1, "with_vector": [layout.sparse]}
    queries = [models.SparseVector(indices=[term], values=[1.0]) for term in asked]
    requests = [models.QueryRequest(query=query, **shared) for query in queries]
    found = await client.query_batch_points(collection, requests) if asked else []
    best = {term: one.points[0] for term, one in zip(asked, found, strict=True) if one.points}
    idf = {term: point.score / (sparse_of(point, layout) or {})[term] for term, point in best.items()}
    if len(idf) < len(asked):
        nowhere = math.log(1.0 + ((await client.count(collection)).count + 0.5) / 0.5)
        idf |= dict.fromkeys([term for term in asked if term not in idf], nowhere)
    return dict.fromkeys(terms, max(idf.values(), default=0.0)) | idf
