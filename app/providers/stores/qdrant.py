"""A Qdrant server or cluster as the store, in our layout, or another pipeline's as it is.

One request brings both channels with payloads, vectors and the collection's statistics.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.providers.http.retry import Retry
from app.providers.stores.filters import conditions
from app.providers.stores.hybrid import Candidate, HybridHits, HybridQuery, came_along
from app.providers.stores.langchain_store import Near, Where
from app.providers.stores.layout import METADATA, Point, point_id
from app.providers.stores.payloads import metadata_of
from app.providers.stores.qdrant_connection import QdrantConnection
from app.providers.stores.qdrant_points import dense_of, names_a_point, point_struct, qdrant_filter, stored_point
from app.providers.stores.qdrant_requests import (
    candidates_of,
    heaviest_request,
    idf_of,
    near_request,
    search_requests,
    wire_id,
    without_vectors,
)
from app.providers.stores.qdrant_server import QdrantServer
from app.providers.stores.qdrant_statistics import Statistics, idf_nowhere
from app.providers.stores.remote import RemoteStore
from graph.errors import CollectionMissing, ConfigurationError, StoreUnavailable

if TYPE_CHECKING:
    from langchain_qdrant import QdrantVectorStore
    from qdrant_client import AsyncQdrantClient, QdrantClient

BATCH = 64
"""Points per request when writing."""
PAGE = 1000
"""Points per request when the whole collection is walked."""


class QdrantStore(RemoteStore):
    """One collection of a Qdrant server: ``VectorStore``, ``ChunkStore`` and ``HybridStore``."""

    def __init__(
        self,
        embedding: Embeddings,
        connection: QdrantConnection,
        collection: str,
        size: int | None = None,
        *,
        seconds: float = 5.0,
        retry: Retry | None = None,
    ) -> None:
        """*seconds* is the time of one try of one request. Nothing is contacted."""
        super().__init__(embedding, collection, size, seconds=seconds, retry=retry)
        self._server = QdrantServer(connection, collection, self._calls)
        self._statistics = Statistics()

    def langchain(self, client: QdrantClient) -> QdrantVectorStore:
        """The same collection as langchain-qdrant's own store, over its dense vectors, for chains that want that."""
        from langchain_qdrant import QdrantVectorStore

        known = self._blocking(self._server.describe())
        return QdrantVectorStore(
            client,
            self.collection,
            embedding=self._embedding,
            vector_name=known.dense,
            validate_collection_config=False,
        )

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        """See ``HybridStore``; without a sparse channel there is no ``idf``."""
        known = await self._server.known()
        for query in queries:
            self._fits(known.size, len(query.dense), StoreUnavailable)
        if not known.sparse:
            self._say_once("no_sparse_vectors", effect="keywords do not count")
        terms = [query.terms if known.sparse else () for query in queries]
        unknown = self._statistics.missing(term for one in terms for term in one)
        requests = search_requests(known, queries, terms, limit, where)
        asked = requests + [heaviest_request(known, term) for term in unknown]

        async def search(client: AsyncQdrantClient) -> tuple[list[list[Candidate]], dict[int, float]]:
            found = [one.points for one in await client.query_batch_points(self.collection, asked)]
            hits = found[: len(requests)]
            best = dict(zip(unknown, found[len(requests) :], strict=True))
            nowhere = 0.0
            if not all(best.values()):
                nowhere = idf_nowhere((await client.count(self.collection, exact=True)).count)
            idf = {term: idf_of(known, term, points) if points else nowhere for term, points in best.items()}
            made = await candidates_of(client, self.collection, known, {one.id: one for row in hits for one in row})
            return [[made[one.id] for one in row if one.id in made] for row in hits], idf

        found, idf = await self._server.ask(search)
        self._statistics.keep(idf)
        by_term = iter(found[len(queries) :])
        unions = [[*near, *(next(by_term) if one else ())] for near, one in zip(found, terms, strict=False)]
        return HybridHits(
            [list({one.key: one for one in union}.values()) for union in unions],
            self._statistics.idf({term for one in terms for term in one}),
        )

    async def asentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, NDArray[np.float32]]:
        """The sentence vectors of candidates that are stored with them."""
        found = came_along(candidates)
        if candidates and not found:
            self._say_once("no_sentence_vectors", effect="sentences are embedded when needed")
        return found

    async def aupsert(self, points: Sequence[Point]) -> None:
        """Store the points, replacing those of the same chunk id; the first call makes the collection."""
        if not points:
            return
        try:
            known = await self._server.known()
        except CollectionMissing:
            known = await self._server.create(len(points[0].dense))
        for point in points:
            self._fits(known.size, len(point.dense), ConfigurationError)
        for at in range(0, len(points), BATCH):
            rows = [point_struct(point, known) for point in points[at : at + BATCH]]
            await self._server.ask(lambda client, rows=rows: client.upsert(self.collection, rows, wait=True))  # type: ignore[misc]

    async def acount(self) -> int:
        """The number of stored chunks; 0 for a collection not made yet."""
        try:
            return (await self._server.ask(lambda client: client.count(self.collection, exact=True))).count
        except CollectionMissing:
            return 0

    async def apoints(self) -> AsyncIterator[list[Point]]:
        """Every stored chunk with its vectors, page by page."""
        known = await self._server.known()
        offset: Any = None
        while True:

            async def read(client: AsyncQdrantClient, offset: Any = offset) -> tuple[list[Any], Any]:
                return await client.scroll(self.collection, limit=BATCH, offset=offset, with_vectors=True)

            page, offset = await self._server.ask(read)
            yield [stored_point(one, known) for one in page]
            if offset is None:
                return

    async def _size(self) -> int | None:
        return (await self._server.describe()).size

    async def _near(self, vector: NDArray[Any], k: int, where: Where) -> list[Near]:
        known = await self._server.known()
        self._fits(known.size, len(vector), StoreUnavailable)
        request = near_request(known, vector, k, where)

        async def search(client: AsyncQdrantClient) -> list[Near]:
            (found,) = await client.query_batch_points(self.collection, [request])
            return [Near(str(one.id), one.payload or {}, float(dense_of(one, known) @ vector)) for one in found.points]

        return sorted(await self._server.ask(search), key=lambda one: -one.cosine)[:k]

    async def _metadata(self, fields: Sequence[str], where: Where = None) -> list[tuple[str, dict[str, Any]]]:
        known = await self._server.known()
        chosen = qdrant_filter(conditions(where), ours=known.ours)
        wanted: Any = [f"{METADATA}.{name}" for name in fields] if known.ours else without_vectors()
        rows: list[tuple[str, dict[str, Any]]] = []
        offset: Any = None
        while True:

            async def read(client: AsyncQdrantClient, offset: Any = offset) -> tuple[list[Any], Any]:
                return await client.scroll(
                    self.collection,
                    scroll_filter=chosen,
                    limit=PAGE,
                    offset=offset,
                    with_payload=wanted if fields else False,
                    with_vectors=False,
                )

            page, offset = await self._server.ask(read)
            rows += [(str(one.id), metadata_of(one.payload)) for one in page]
            if offset is None:
                return rows

    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        by_id = {point_id(chunk_id): chunk_id for chunk_id in chunk_ids}
        # A point of another pipeline may have no chunk id but its own.
        by_id |= {chunk_id: chunk_id for chunk_id in chunk_ids if names_a_point(chunk_id)}
        if not by_id:
            return {}
        ids = [int(one) if one.isdecimal() else one for one in by_id]
        found = await self._server.ask(
            lambda client: client.retrieve(self.collection, ids, with_payload=without_vectors())
        )
        return {by_id[str(one.id)]: dict(one.payload or {}) for one in found}

    async def _remove(self, ids: Sequence[str]) -> None:
        for at in range(0, len(ids), PAGE):
            some: Any = [wire_id(one) for one in ids[at : at + PAGE]]
            await self._server.ask(lambda client, some=some: client.delete(self.collection, some, wait=True))  # type: ignore[misc]

    async def _remove_all(self) -> None:
        await self._remove([own for own, _ in await self._metadata([])])

    def _own_id(self, chunk_id: str) -> str:
        return point_id(chunk_id)

    async def _close_here(self) -> None:
        await self._server.aclose()
