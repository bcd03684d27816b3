"""A Qdrant server or cluster as the store; collections of ours or of other pipelines.

qdrant-client's asynchronous client over kept connections: a question takes one request for the idf of its words and
one for the chunks. langchain-qdrant's ``QdrantVectorStore`` reads and writes the same collections, but its search
returns neither vectors nor scores of each channel, and fuses by rank.
"""

import logging
import math
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.utils.iter import batch_iterate
from qdrant_client import AsyncQdrantClient, models

from app.providers.http.error_mapping import store_error
from app.providers.http.transport import AiohttpTransport
from app.providers.stores import qdrant_points
from app.providers.stores.filters import Scalar, Where
from app.providers.stores.hybrid import HybridHits, HybridQuery, check_size
from app.providers.stores.layout import METADATA, Point, point_id
from app.providers.stores.payloads import metadata_of, with_text
from app.providers.stores.qdrant_points import CollectionLayout, sparse_of
from app.providers.stores.remote import PAGE, SAMPLE, RemoteStore
from app.settings import Settings
from graph.errors import CollectionMissing, ConfigurationError, RAGError, StoreUnavailable

BATCH = 16
"""Points per request with vectors, whose JSON holds the event loop."""
MAX_VALUES = 100_000
"""Values of an indexed field that one request lists; of more, all chunks are read."""
MAX_TERMS = 64
"""Terms whose idf is asked for one search; further ones count as the rarest."""
log = logging.getLogger("garden.store")


class QdrantStore(RemoteStore):
    """One collection of a Qdrant server. Nothing is contacted when it is made."""

    _layout: CollectionLayout | None = None

    def __init__(self, embedding: Embeddings, settings: Settings, collection: str, size: int | None = None) -> None:
        seconds = settings.vector_store_timeout_seconds
        super().__init__(embedding, collection, size, seconds=seconds, text_field=settings.text_field)
        url, key = settings.qdrant_url, settings.qdrant_api_key.get_secret_value()
        if key and url.startswith("http://"):
            log.warning("qdrant_key_unencrypted")
        self._address = url
        self._client: AsyncQdrantClient = AsyncQdrantClient(
            url=url,
            timeout=math.ceil(seconds),
            check_compatibility=False,  # it would contact the server here
            headers={"api-key": key} if key else None,  # as ``api_key`` does, without a warning
            transport=AiohttpTransport(),  # its own keeps no connection to a server on this machine
        )

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        """See ``HybridStore``; without a sparse channel there is no ``idf``."""
        layout = await self._described()
        check_size(self.collection, layout.size, len(queries[0].dense), StoreUnavailable)
        if not layout.sparse:
            self._note("no_sparse_vectors", effect="keywords do not count")
        if not layout.sentences:
            self._note("no_sentence_vectors", effect="sentences are embedded when needed")
        chosen = await self._filter(where)
        terms = dict.fromkeys(term for query in queries for term in query.terms) if layout.sparse else {}
        idf = await self._idf(layout, list(terms))
        requests = [qdrant_points.search_request(query, layout, limit, chosen, idf) for query in queries]
        responses = await self._ask(self._client.query_batch_points, self.collection, requests)
        candidate = partial(qdrant_points.candidate_of, layout=layout, text_field=self._text_field)
        return HybridHits(self._readable([list(map(candidate, found.points)) for found in responses]), idf)

    async def aupsert(self, points: Sequence[Point]) -> None:
        if not points:
            return
        try:
            layout = await self._described()
        except CollectionMissing:
            await self._create(len(points[0].dense))
            layout = await self._described()
        for point in points:
            check_size(self.collection, layout.size, len(point.dense), ConfigurationError)
        for batch in batch_iterate(BATCH, points):
            rows = [qdrant_points.point_struct(point, layout) for point in batch]
            await self._ask(self._client.upsert, self.collection, rows, wait=True)

    async def acount(self) -> int:
        try:
            return (await self._ask(self._client.count, self.collection)).count
        except CollectionMissing:
            return 0

    async def apoints(self) -> AsyncIterator[list[Point]]:
        layout = await self._described()
        async for page in self._pages(limit=BATCH, with_vectors=True):
            yield [qdrant_points.point_of(record, layout, self._text_field) for record in page]

    async def _size(self) -> int | None:
        self._layout = None
        return (await self._described()).size

    async def _create(self, size: int) -> None:
        if not await self._ask(self._client.collection_exists, self.collection):
            config = qdrant_points.collection_config(size)
            await self._ask(self._client.create_collection, self.collection, **config)
        for path in qdrant_points.INDEXED_PATHS:
            keyword = models.PayloadSchemaType.KEYWORD
            await self._ask(self._client.create_payload_index, self.collection, path, keyword, wait=True)

    async def _idf(self, layout: CollectionLayout, terms: Sequence[int]) -> dict[int, float]:
        """The idf of terms as the server weighs them; of those past ``MAX_TERMS`` the highest.

        The server has no request for it, but scores a query of one term by weight times idf. Of shards the best hit
        counts.
        """
        queried = terms[:MAX_TERMS]
        if not queried:
            return {}
        shared: dict[str, Any] = {"using": layout.sparse, "limit": 1, "with_vector": [layout.sparse]}
        queries = [models.SparseVector(indices=[term], values=[1.0]) for term in queried]
        requests = [models.QueryRequest(query=query, **shared) for query in queries]
        responses = await self._ask(self._client.query_batch_points, self.collection, requests)
        best = {term: response.points[0] for term, response in zip(queried, responses, strict=True) if response.points}
        idf = {term: point.score / (sparse_of(point, layout) or {})[term] for term, point in best.items()}
        if len(idf) < len(queried):
            nowhere = math.log(1.0 + (await self.acount() + 0.5) / 0.5)
            idf |= dict.fromkeys([term for term in queried if term not in idf], nowhere)
        return dict.fromkeys(terms, max(idf.values())) | idf

    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        by_id = {key: chunk_id for chunk_id in chunk_ids for key in qdrant_points.point_ids(chunk_id)}
        found = await self._ask(self._client.retrieve, self.collection, list(by_id)) if by_id else []
        return {by_id[record.id]: with_text(record.payload, self._text_field) for record in found}

    async def _remove(self, ids: Sequence[Any]) -> None:
        for batch in batch_iterate(PAGE, ids):
            await self._ask(self._client.delete, self.collection, batch, wait=True)

    def _own_id(self, chunk_id: str) -> str:
        return point_id(chunk_id)

    def _error(self, error: BaseException) -> RAGError:
        """Return ``CollectionMissing`` where the server says so, else ``StoreUnavailable``."""
        self._layout = None  # it may come back with another layout
        content: Any = getattr(error, "content", b"")
        missing = getattr(error, "status_code", None) == 404 and isinstance(content, bytes)
        if missing and b"ollection" in content and b"doesn't exist" in content:  # not just any server's 404
            return CollectionMissing(f"The vector store holds no collection named {self.collection!r}.")
        return store_error(error, address=self._address)

    async def acollection_names(self) -> list[str]:
        return [collection.name for collection in (await self._ask(self._client.get_collections)).collections]

    async def ahas(self, where: Where) -> bool:
        return await self._has(await self._filter(where))

    async def ahas_field(self, name: str) -> bool:
        """See ``ChunkStore``; asked of the server, as ``afield_names`` reads only one page."""
        layout = await self._described()
        return await self._has(qdrant_points.present(name, nested=layout.ours))

    async def afield_names(self) -> set[str]:
        page = await anext(self._pages(limit=PAGE, with_payload=True))
        return {name for record in page for name, value in metadata_of(record.payload).items() if value is not None}

    async def avalues(self, fields: Sequence[str]) -> set[Scalar]:
        layout = await self._described()
        paths = [f"{METADATA}.{name}" for name in fields if f"{METADATA}.{name}" in qdrant_points.INDEXED_PATHS]
        if layout.ours and paths:
            facets = [await self._ask(self._client.facet, self.collection, path, limit=MAX_VALUES) for path in paths]
            hits = [facet.hits for facet in facets]
            if max(map(len, hits)) < MAX_VALUES:
                return {hit.value for row in hits for hit in row}
        return await super().avalues(fields)

    async def _sample(self) -> list[dict[str, Any]]:
        page = await anext(self._pages(limit=SAMPLE, with_payload=True))
        return [with_text(record.payload, self._text_field) for record in page]

    async def _described(self) -> CollectionLayout:
        """The collection as it was last described."""
        if self._layout is None:
            info = await self._ask(self._client.get_collection, self.collection)
            self._layout = qdrant_points.layout_of(info)
        return self._layout

    async def _pages(self, **options: Any) -> AsyncIterator[list[Any]]:
        offset: Any = None
        while True:
            page, offset = await self._ask(self._client.scroll, self.collection, offset=offset, **options)
            yield page
            if offset is None:
                return

    async def _metadata(self, fields: Sequence[str] | None, where: Where = None) -> dict[Any, dict[str, Any]]:
        layout = await self._described()
        chosen = await self._filter(where)
        some = [f"{METADATA}.{name}" for name in fields or ()]
        payload = (some if layout.ours and some else True) if fields is None or some else False
        pages = self._pages(scroll_filter=chosen, limit=PAGE, with_payload=payload)
        return {record.id: metadata_of(record.payload) async for page in pages for record in page}

    async def _has(self, chosen: models.Filter | None) -> bool:
        return bool(await anext(self._pages(scroll_filter=chosen, limit=1, with_payload=False)))

    async def _filter(self, where: Where) -> models.Filter | None:
        exact = await self._exact(where, days=False) if where else []
        return qdrant_points.qdrant_filter(exact, nested=(await self._described()).ours)
