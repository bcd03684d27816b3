"""Search by langchain-qdrant for a question that is embedded already, and what BM25 needs to know of its terms."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from langchain_qdrant import QdrantVectorStore, RetrievalMode, SparseVector
from qdrant_client import QdrantClient, models

from app.providers.stores.hybrid import HybridQuery
from app.providers.stores.qdrant_points import Layout, sparse_of

MOST_TERMS = 64
"""Terms whose idf is asked for one search; further ones count as the rarest."""


def search(
    client: QdrantClient,
    collection: str,
    layout: Layout,
    query: HybridQuery,
    limit: int,
    chosen: models.Filter | None,
) -> list[Any]:
    """The ids of the points nearest in either channel: at least *limit* of each, where so many match.

    ``QdrantVectorStore`` embeds a question's text itself, so it is given models that have this question's vectors.
    """
    hybrid = bool(layout.sparse and query.terms)
    terms = SparseVector(indices=list(query.terms), values=[1.0] * len(query.terms))
    dense_model: Any = SimpleNamespace(embed_query=lambda _: query.dense.tolist())
    sparse_model: Any = SimpleNamespace(embed_query=lambda _: terms)
    store = QdrantVectorStore(
        client,
        collection,
        dense_model,
        RetrievalMode.HYBRID if hybrid else RetrievalMode.DENSE,
        layout.dense,
        sparse_embedding=sparse_model,
        sparse_vector_name=layout.sparse,
        validate_embeddings=False,
        validate_collection_config=False,
    )
    return [found.metadata["_id"] for found in store.similarity_search("", limit * (2 if hybrid else 1), chosen)]


def inverse_document_frequencies(
    client: QdrantClient, collection: str, layout: Layout, terms: Sequence[int]
) -> dict[int, float]:
    """The idf of terms as the server weighs them; of those past ``MOST_TERMS`` the highest.

    The server has no request for it, but scores a query of one term by stored weight times idf. On several shards
    each has its own; the best hit's counts.
    """
    asked = terms[:MOST_TERMS]
    shared: dict[str, Any] = {"using": layout.sparse, "limit": 1, "with_vector": [layout.sparse]}
    queries = [models.SparseVector(indices=[term], values=[1.0]) for term in asked]
    requests = [models.QueryRequest(query=query, **shared) for query in queries]
    found = client.query_batch_points(collection, requests) if asked else []
    best = {term: one.points[0] for term, one in zip(asked, found, strict=True) if one.points}
    idf = {term: point.score / (sparse_of(point, layout) or {})[term] for term, point in best.items()}
    if len(idf) < len(asked):
        nowhere = math.log(1.0 + (client.count(collection).count + 0.5) / 0.5)
        idf |= dict.fromkeys([term for term in asked if term not in idf], nowhere)
    return dict.fromkeys(terms, max(idf.values(), default=0.0)) | idf
