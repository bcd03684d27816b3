"""A Qdrant server or cluster as the store: collections in our layout, or another pipeline's as they are.

langchain-qdrant searches: ``RetrievalMode.HYBRID`` where the collection has sparse vectors, ``DENSE`` elsewhere. It has
no asynchronous client (langchain-ai/langchain#32195), so its searches run in threads; and it returns neither vectors,
nor payloads of other pipelines, nor statistics, and its fused scores are ranks: qdrant-client fetches those by id.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.providers.http.retry import Retry
from app.providers.stores.hybrid import Candidate, HybridHits, HybridQuery, Where, conditions
from app.providers.stores.layout import METADATA, Point, point_id
from app.providers.stores.payloads import metadata_of
from app.providers.stores.qdrant_connection import QdrantConnection
from app.providers.stores.qdrant_points import (
    INDEXED_PATHS,
    Layout,
    candidate_of,
    collection_config,
    layout_of,
    point_of,
    point_struct,
    qdrant_filter,
    sentences_of,
    wire_id,
)
from app.providers.stores.remote import RemoteStore
from app.settings import Settings
from graph.errors import CollectionMissing, ConfigurationError, StoreUnavailable

if TYPE_CHECKING:
    from qdrant_client import models

BATCH, PAGE = 16, 1000
"""Points per request with vectors, of which a megabyte is the most that aiohttp sends in one piece; and without."""
T = TypeVar("T")


class QdrantStore(RemoteStore):
    """One collection of a Qdrant server. Nothing is contacted when it is made."""

    def __init__(
        self,
        embedding: Embeddings,
        settings: Settings,
        collection: str,
        size: int | None = None,
        *,
        seconds: float | None = None,
        retry: Retry | None = None,
    ) -> None:
        """*seconds* is the time limit of one request, by default the settings'. Logs a key sent unencrypted."""
        from app.providers.stores.qdrant_search import inverse_document_frequencies, search  # now: it takes seconds

        seconds = seconds or settings.vector_store_timeout_seconds
        super().__init__(embedding, collection, size, seconds=seconds, retry=retry)
        self._connection = QdrantConnection(settings, collection, seconds)
        self._client = self._connection.client
        self._search_ids, self._idf = search, inverse_document_frequencies
        self._layout: Layout | None = None

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        """See ``HybridStore``; without a sparse channel there is no ``idf``."""
        known = await self._known()
        for query in queries:
            self._fits(known.size, len(query.dense), StoreUnavailable)
        if not known.sparse:
            self._note("no_sparse_vectors", effect="keywords do not count")
        chosen = qdrant_filter(conditions(where), nested=known.ours)
        rows = await asyncio.gather(*(self._search(known, query, limit, chosen) for query in queries))
        terms = list(dict.fromkeys(term for query in queries for term in query.terms)) if known.sparse else []
        names = [name for name in (known.dense, known.sparse) if name] if known.dense else True
        ids = list(dict.fromkeys(own for row in rows for own in row))

        async def read() -> tuple[dict[Any, Candidate], dict[int, float]]:
            found, idf = await asyncio.gather(
                self._client.retrieve(self.collection, ids, with_vectors=names),
                self._idf(self._client, self.collection, known, terms),
            )
            return {one.id: candidate_of(one, known) for one in found}, idf

        if not ids and not terms:
            return HybridHits([[] for _ in queries])
        found, idf = await self._ask(read)
        return HybridHits([[found[own] for own in row if own in found] for row in rows], idf)

    async def asentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, NDArray[np.float32]]:
        """The sentence vectors of candidates that are stored with them."""
        known = await self._known()
        if not known.sentences:
            self._note("no_sentence_vectors", effect="sentences are embedded when needed")
            return {}
        ids: Any = [wire_id(str(one.key)) for one in candidates]

        async def read() -> list[Any]:
            return await self._client.retrieve(
                self.collection,
                ids,
                with_payload=False,
                with_vectors=[known.sentences],
            )

        rows = {str(one.id): sentences_of(one, known) for one in await self._ask(read)} if ids else {}
        return {key: vectors for key, vectors in rows.items() if len(vectors)}

    async def aupsert(self, points: Sequence[Point]) -> None:
        if not points:
            return
        try:
            known = await self._known()
        except CollectionMissing:
            await self._ask(lambda: self._create(len(points[0].dense)))
            known = await self._known()
        for point in points:
            self._fits(known.size, len(point.dense), ConfigurationError)
        for at in range(0, len(points), BATCH):
            rows = [point_struct(point, known) for point in points[at : at + BATCH]]
            await self._ask(lambda rows=rows: self._client.upsert(self.collection, rows, wait=True))  # type: ignore[misc]

    async def acount(self) -> int:
        try:
            return (await self._ask(lambda: self._client.count(self.collection))).count
        except CollectionMissing:
            return 0

    async def apoints(self) -> AsyncIterator[list[Point]]:
        known = await self._known()
        async for page in self._pages(limit=BATCH, with_vectors=True):
            yield [point_of(one, known) for one in page]

    async def _search(self, known: Layout, query: HybridQuery, limit: int, chosen: models.Filter | None) -> list[Any]:
        job = partial(self._search_ids, self._connection.blocking_client, self.collection, known, query, limit, chosen)
        return await self._ask(lambda: asyncio.get_running_loop().run_in_executor(self._connection.threads, job))

    async def _known(self) -> Layout:
        """The collection as it was last described."""
        if self._layout is None:
            self._layout = layout_of(await self._ask(lambda: self._client.get_collection(self.collection)))
        return self._layout

    async def _size(self) -> int | None:
        self._layout = None
        return (await self._known()).size

    async def _create(self, size: int) -> None:
        from qdrant_client import models

        if not await self._client.collection_exists(self.collection):
            await self._client.create_collection(self.collection, **collection_config(size))
        for path in INDEXED_PATHS:
            await self._client.create_payload_index(self.collection, path, models.PayloadSchemaType.KEYWORD, wait=True)

    async def _pages(self, **options: Any) -> AsyncIterator[list[Any]]:
        """The stored points, page by page."""
        offset: Any = None
        while True:

            async def read(offset: Any = offset) -> tuple[list[Any], Any]:
                return await self._client.scroll(self.collection, offset=offset, **options)

            page, offset = await self._ask(read)
            yield page
            if offset is None:
                return

    async def _metadata(self, fields: Sequence[str], where: Where = None) -> list[tuple[str, dict[str, Any]]]:
        known = await self._known()
        chosen = qdrant_filter(conditions(where), nested=known.ours)
        payload = ([f"{METADATA}.{name}" for name in fields] if known.ours else True) if fields else False
        pages = self._pages(scroll_filter=chosen, limit=PAGE, with_payload=payload)
        return [(str(one.id), metadata_of(one.payload)) async for page in pages for one in page]

    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        # A point of another pipeline may have no chunk id but its own.
        by_id = {own: one for one in chunk_ids for own in (point_id(one), wire_id(one)) if own is not None}
        found = await self._ask(lambda: self._client.retrieve(self.collection, list(by_id))) if by_id else []
        return {by_id[one.id]: dict(one.payload or {}) for one in found}  # type: ignore[index]

    async def _remove(self, ids: Sequence[str]) -> None:
        for at in range(0, len(ids), PAGE):
            some: Any = [wire_id(one) for one in ids[at : at + PAGE]]
            await self._ask(lambda some=some: self._client.delete(self.collection, some, wait=True))  # type: ignore[misc]

    def _own_id(self, chunk_id: str) -> str:
        return point_id(chunk_id)

    async def _close_here(self) -> None:
        await self._connection.aclose()

    async def _ask(self, operation: Callable[[], Awaitable[T]]) -> T:
        """Await *operation*, retried where that may help, with errors of ``graph.errors``."""
        try:
            return await self._calls.acall(partial(self._connection.mapped, operation))
        except (CollectionMissing, StoreUnavailable):
            self._layout = None  # it may come back with another layout
            raise
