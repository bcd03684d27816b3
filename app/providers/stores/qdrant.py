"""A Qdrant server or cluster as the store; collections of ours or of other pipelines.

langchain-qdrant searches: ``RetrievalMode.HYBRID`` where the collection has sparse vectors, ``DENSE`` elsewhere. It
returns neither vectors, nor payloads of other pipelines, nor statistics, and its fused scores are ranks: qdrant-client
fetches those by id. It has no asynchronous client (langchain-ai/langchain#32195), so all calls run in threads.
"""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Hashable, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.utils.iter import batch_iterate
from langchain_qdrant import QdrantVectorStore, RetrievalMode, SparseVector
from qdrant_client import QdrantClient, models

from app.providers.embeddings.vectors import Vectors
from app.providers.http.error_mapping import store_error
from app.providers.stores import qdrant_points
from app.providers.stores.filters import Where
from app.providers.stores.hybrid import Candidate, HybridHits, HybridQuery
from app.providers.stores.layout import Point, point_id
from app.providers.stores.qdrant_points import CollectionLayout, sparse_of
from app.providers.stores.qdrant_reader import PAGE, QdrantReader
from app.settings import Settings
from graph.errors import CollectionMissing, ConfigurationError, RAGError, StoreUnavailable

BATCH = 64
"""Points per request with vectors."""
MOST_TERMS = 64
"""Terms whose idf is asked for one search; further ones count as the rarest."""
log = logging.getLogger("garden.store")


class QdrantStore(QdrantReader):
    """One collection of a Qdrant server. Nothing is contacted when it is made."""

    def __init__(self, embedding: Embeddings, settings: Settings, collection: str, size: int | None = None) -> None:
        seconds = settings.vector_store_timeout_seconds
        super().__init__(embedding, collection, size, seconds=seconds)
        url, key = settings.qdrant_url, settings.qdrant_api_key.get_secret_value()
        if key and url.startswith("http://"):
            log.warning("qdrant_key_unencrypted")
        self._client: QdrantClient = QdrantClient(
            url=url,
            timeout=math.ceil(seconds),
            check_compatibility=False,  # it would contact the server here
            headers={"api-key": key} if key else None,  # as ``api_key`` does, without a warning
        )

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        """See ``HybridStore``; without a sparse channel there is no ``idf``."""
        layout = await self._described()
        self._fits(layout.size, len(queries[0].dense), StoreUnavailable)
        if not layout.sparse:
            self._note("no_sparse_vectors", effect="keywords do not count")
        chosen = await self._filter(where)
        terms = list(dict.fromkeys(term for query in queries for term in query.terms)) if layout.sparse else []
        searches = (self._ask(partial(self._search, layout, query, limit, chosen)) for query in queries)
        idf_asked = self._ask(partial(self._idf, layout, terms))
        idf, *rows = await asyncio.gather(idf_asked, *searches)
        names = [name for name in (layout.dense, layout.sparse) if name] if layout.dense else True
        ids = list(dict.fromkeys(key for row in rows for key in row))
        read = partial(self._client.retrieve, self.collection, ids, with_vectors=names)
        candidates = {one.id: qdrant_points.candidate_of(one, layout) for one in await self._ask(read)} if ids else {}
        return HybridHits([[candidates[key] for key in row if key in candidates] for row in rows], idf)

    async def asentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, Vectors]:
        """The sentence vectors of candidates that are stored with them."""
        layout = await self._described()
        if not layout.sentences:
            self._note("no_sentence_vectors", effect="sentences are embedded when needed")
            return {}
        ids: Any = [one.key for one in candidates]
        read = partial(self._client.retrieve, self.collection, ids, False, [layout.sentences])
        return {one.id: qdrant_points.sentences_of(one, layout) for one in await self._ask(read)} if ids else {}

    async def aupsert(self, points: Sequence[Point]) -> None:
        if not points:
            return
        try:
            layout = await self._described()
        except CollectionMissing:
            await self._ask(partial(self._create, len(points[0].dense)))
            layout = await self._described()
        for point in points:
            self._fits(layout.size, len(point.dense), ConfigurationError)
        for batch in batch_iterate(BATCH, points):
            rows = [qdrant_points.point_struct(point, layout) for point in batch]
            await self._ask(partial(self._client.upsert, self.collection, rows, wait=True))

    async def acount(self) -> int:
        try:
            return (await self._ask(partial(self._client.count, self.collection))).count
        except CollectionMissing:
            return 0

    async def apoints(self) -> AsyncIterator[list[Point]]:
        layout = await self._described()
        async for page in self._pages(limit=BATCH, with_vectors=True):
            yield [qdrant_points.point_of(one, layout) for one in page]

    async def _size(self) -> int | None:
        self._layout = None
        return (await self._described()).size

    def _create(self, size: int) -> None:
        if not self._client.collection_exists(self.collection):
            self._client.create_collection(self.collection, **qdrant_points.collection_config(size))
        for path in qdrant_points.INDEXED_PATHS:
            self._client.create_payload_index(self.collection, path, models.PayloadSchemaType.KEYWORD, wait=True)

    def _search(
        self, layout: CollectionLayout, query: HybridQuery, limit: int, chosen: models.Filter | None
    ) -> list[Any]:
        """The ids of the *limit* nearest points in each channel.

        ``QdrantVectorStore`` embeds a question's text itself, so it is given models that have this question's vectors.
        """
        hybrid = bool(layout.sparse and query.terms)
        terms = SparseVector(indices=list(query.terms), values=[1.0] * len(query.terms))
        dense_model: Any = SimpleNamespace(embed_query=lambda _: query.dense.tolist())
        sparse_model: Any = SimpleNamespace(embed_query=lambda _: terms)
        store = QdrantVectorStore(
            self._client,
            self.collection,
            dense_model,
            RetrievalMode.HYBRID if hybrid else RetrievalMode.DENSE,
            layout.dense,
            sparse_embedding=sparse_model,
            sparse_vector_name=layout.sparse,
            validate_embeddings=False,
            validate_collection_config=False,
        )
        found = store.similarity_search("", limit * (2 if hybrid else 1), chosen)
        return [document.metadata["_id"] for document in found]

    def _idf(self, layout: CollectionLayout, terms: Sequence[int]) -> dict[int, float]:
        """The idf of terms as the server weighs them; of those past ``MOST_TERMS`` the highest.

        The server has no request for it, but scores a query of one term by weight times idf. Of shards the best hit
        counts.
        """
        queried = terms[:MOST_TERMS]
        shared: dict[str, Any] = {"using": layout.sparse, "limit": 1, "with_vector": [layout.sparse]}
        queries = [models.SparseVector(indices=[term], values=[1.0]) for term in queried]
        requests = [models.QueryRequest(query=query, **shared) for query in queries]
        responses = self._client.query_batch_points(self.collection, requests) if queried else []
        best = {term: one.points[0] for term, one in zip(queried, responses, strict=True) if one.points}
        idf = {term: point.score / (sparse_of(point, layout) or {})[term] for term, point in best.items()}
        if len(idf) < len(queried):
            nowhere = math.log(1.0 + (self._client.count(self.collection).count + 0.5) / 0.5)
            idf |= dict.fromkeys([term for term in queried if term not in idf], nowhere)
        return dict.fromkeys(terms, max(idf.values(), default=0.0)) | idf

    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        by_id = {key: chunk_id for chunk_id in chunk_ids for key in qdrant_points.point_ids(chunk_id)}
        read = partial(self._client.retrieve, self.collection, list(by_id))
        return {by_id[one.id]: dict(one.payload or {}) for one in (await self._ask(read) if by_id else [])}

    async def _remove(self, ids: Sequence[Any]) -> None:
        for batch in batch_iterate(PAGE, ids):
            await self._ask(partial(self._client.delete, self.collection, batch, wait=True))

    def _own_id(self, chunk_id: str) -> str:
        return point_id(chunk_id)

    def _error(self, error: BaseException) -> RAGError:
        """Return ``CollectionMissing`` where the server says so, else ``StoreUnavailable``."""
        self._layout = None  # it may come back with another layout
        content: Any = getattr(error, "content", b"")
        missing = getattr(error, "status_code", None) == 404 and isinstance(content, bytes)
        if missing and b"ollection" in content and b"doesn't exist" in content:  # not just any server's 404
            return CollectionMissing(f"The vector store holds no collection named {self.collection!r}.")
        return store_error(error)
