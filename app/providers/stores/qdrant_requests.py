"""The searches that are asked of a Qdrant server, and what the answers tell of its statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from app.providers.embeddings.vectors import Vectors
from app.providers.stores.filters import conditions
from app.providers.stores.hybrid import Candidate, HybridQuery
from app.providers.stores.langchain_store import Where
from app.providers.stores.packed_vectors import VECTORS
from app.providers.stores.qdrant_points import Layout, came_with, candidate, qdrant_filter, vectors_of

if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient, models

WIDER = 4
"""So many times more are asked for where the server's own order is not that of the cosines."""


def search_requests(
    known: Layout,
    queries: Sequence[HybridQuery],
    terms: Sequence[Sequence[int]],
    limit: int,
    where: Where,
) -> list[models.QueryRequest]:
    """One request per vector, then one per set of terms."""
    from qdrant_client import models

    names = (known.sparse,) if known.packed else (known.dense, known.sparse, known.sentences)
    shared: dict[str, Any] = {
        "filter": qdrant_filter(conditions(where), ours=known.ours),
        "with_payload": True,
        "with_vector": [name for name in names if name] if known.dense else True,
    }
    near = limit if known.cosine else WIDER * limit
    return [
        models.QueryRequest(query=query.dense.tolist(), using=known.dense or None, limit=near, **shared)
        for query in queries
    ] + [
        models.QueryRequest(query=sparse_vector(one), using=known.sparse, limit=limit, **shared) for one in terms if one
    ]


def near_request(known: Layout, vector: Vectors, limit: int, where: Where) -> models.QueryRequest:
    """For the points nearest to a vector, with that vector of theirs and what they say."""
    from qdrant_client import models

    return models.QueryRequest(
        query=vector.tolist(),
        using=known.dense or None,
        limit=limit if known.cosine else WIDER * limit,
        filter=qdrant_filter(conditions(where), ours=known.ours),
        with_payload=without_vectors(),
        with_vector=[known.dense] if known.dense else True,
    )


def without_vectors() -> models.PayloadSelectorExclude:
    """All of a payload but the vectors that are packed in it."""
    from qdrant_client import models

    return models.PayloadSelectorExclude(exclude=[VECTORS])


def sparse_vector(terms: Sequence[int]) -> models.SparseVector:
    """The query vector of these terms, each of weight 1."""
    from qdrant_client import models

    return models.SparseVector(indices=list(terms), values=[1.0] * len(terms))


def heaviest_request(known: Layout, term: int) -> models.QueryRequest:
    """For the point in which a term weighs most, with the vector that says how much."""
    from qdrant_client import models

    return models.QueryRequest(
        query=sparse_vector([term]), using=known.sparse, limit=1, with_vector=[str(known.sparse)]
    )


def idf_of(known: Layout, term: int, points: Sequence[Any]) -> float:
    """The score of a term's best hit over its stored weight there."""
    stored = vectors_of(points[0])[str(known.sparse)]
    return float(points[0].score / stored.values[stored.indices.index(term)])


def wire_id(own: str) -> str | int:
    """A point's id as the server takes it: a number where it is one."""
    return int(own) if own.isdecimal() else own


async def candidates_of(
    client: AsyncQdrantClient, collection: str, known: Layout, points: Mapping[Any, Any]
) -> dict[Any, Candidate]:
    """Found points by id; those that somebody else wrote into our collection are asked for their vectors."""
    vectors = {own: came_with(one, known) for own, one in points.items()}
    lacking = [own for own, one in vectors.items() if one is None]
    if lacking and known.packed:
        rest = await client.retrieve(collection, lacking, with_payload=False, with_vectors=[known.dense])
        vectors |= {one.id: came_with(one, known) for one in rest}
    return {own: candidate(points[own], known, one) for own, one in vectors.items() if one is not None}
