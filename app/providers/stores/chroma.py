"""A Chroma server as the store: one collection, ours or another pipeline's, over its HTTP interface, version 2.

Spoken to directly rather than through ``langchain-chroma``: the chromadb package it needs brings an inference runtime,
gRPC and Kubernetes clients into every installation, allows requests no time limit (chroma-core/chroma#5805), and
contacts the server when a client is made, so that a server which is down would stop the start.

Chroma here has no sparse channel and keeps one vector per chunk: the keyword part of a score is 0, and sentences are
embedded when first needed. Cosines are computed from the returned vectors, so they are right whatever space (cosine,
l2, ip) the collection was created with.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

import httpx
import numpy as np
import orjson
from langchain_core.embeddings import Embeddings

from app.providers.embeddings.vectors import unit
from app.providers.http.transport import AiohttpTransport
from app.providers.stores.chroma_rows import chroma_where, flat, payload
from app.providers.stores.hybrid import HybridHits, HybridQuery, Where, conditions
from app.providers.stores.layout import Point
from app.providers.stores.payloads import as_candidate, metadata_of, text_of
from app.providers.stores.remote import RemoteStore
from graph.errors import CollectionMissing, ConfigurationError, StoreUnavailable

COLLECTIONS = "/api/v2/tenants/default_tenant/databases/default_database/collections"
BATCH, PAGE = 128, 1000
"""Chunks per request with vectors, and without."""
ALL = ["documents", "metadatas", "embeddings"]


class Collection(NamedTuple):
    """A collection as the server describes it; ``size`` is None until it holds a vector."""

    id: str
    size: int | None


class ChromaStore(RemoteStore):
    """One collection of a Chroma server. Nothing is contacted when it is made."""

    def __init__(
        self,
        embedding: Embeddings,
        url: str,
        collection: str,
        size: int | None = None,
        *,
        seconds: float = 5.0,
    ) -> None:
        """*seconds* is the time limit of one request."""
        super().__init__(embedding, collection, size, seconds=seconds)
        self._known: Collection | None = None
        self._transport = AiohttpTransport()
        self._close_here = self._transport.aclose
        self._http = httpx.AsyncClient(base_url=url, timeout=seconds, follow_redirects=True, transport=self._transport)

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        """See ``HybridStore``; there is one channel, and no ``idf``."""
        self._note("no_sparse_vectors", effect="keywords do not count, sentences are embedded when needed")
        known = await self._collection()
        if known.size is None:
            return HybridHits([[] for _ in queries])
        self._fits(known.size, len(queries[0].dense), StoreUnavailable)
        body = {"query_embeddings": [query.dense for query in queries], "n_results": limit, "include": ALL}
        found = await self._ask("query", body, where)
        return HybridHits(
            [
                [
                    as_candidate(own, own, read, unit(vector))
                    for own, read, vector in zip(ids, map(payload, documents, rows), vectors, strict=True)
                ]
                for ids, documents, rows, vectors in zip(found["ids"], *(found[name] for name in ALL), strict=True)
            ]
        )

    async def aupsert(self, points: Sequence[Point]) -> None:
        if not points:
            return
        try:
            known = await self._collection()
        except CollectionMissing:
            body = {"name": self.collection, "get_or_create": True, "configuration": {"hnsw": {"space": "cosine"}}}
            known = await self._describe("", body)
        for point in points:
            self._fits(known.size, len(point.dense), ConfigurationError)
        for at in range(0, len(points), BATCH):
            batch = points[at : at + BATCH]
            ids = [point.chunk_id for point in batch]
            found = await self._ask("get", {"ids": ids, "include": ["metadatas"]})
            stored = dict(zip(found["ids"], found["metadatas"], strict=True))
            body = {
                "ids": ids,
                "embeddings": [np.ascontiguousarray(point.dense, np.float32) for point in batch],
                "documents": [point.text for point in batch],
                "metadatas": [flat(point.metadata, stored.get(own)) for own, point in zip(ids, batch, strict=True)],
            }
            await self._ask("upsert", body)

    async def acount(self) -> int:
        try:
            return int(await self._ask("count"))
        except CollectionMissing:
            return 0

    async def apoints(self) -> AsyncIterator[list[Point]]:
        async for found in self._pages(BATCH, ALL):
            vectors = unit(found["embeddings"])
            reads = map(payload, found["documents"], found["metadatas"])
            yield [
                Point(str(metadata.get("chunk_id") or own), text_of(read), metadata, vector, vector[None][:0])
                for own, read, vector in zip(found["ids"], reads, vectors, strict=True)
                for metadata in [metadata_of(read)]
            ]

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def _size(self) -> int | None:
        self._known = None
        return (await self._collection()).size

    async def _metadata(self, fields: Sequence[str], where: Where = None) -> dict[Any, dict[str, Any]]:
        pages = self._pages(PAGE, ["metadatas"], where)
        rows = [row async for found in pages for row in zip(found["ids"], found["metadatas"], strict=True)]
        return {own: dict(metadata or {}) for own, metadata in rows}

    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        if not chunk_ids:
            return {}
        found = await self._ask("get", {"ids": list(set(chunk_ids)), "include": ["documents", "metadatas"]})
        return dict(zip(found["ids"], map(payload, found["documents"], found["metadatas"]), strict=True))

    async def _remove(self, ids: Sequence[str]) -> None:
        for at in range(0, len(ids), PAGE):
            await self._ask("delete", {"ids": list(ids[at : at + PAGE])})

    def _own_id(self, chunk_id: str) -> str:
        return chunk_id

    async def _pages(self, size: int, include: list[str], where: Where = None) -> AsyncIterator[dict[str, Any]]:
        """The columns of the matching chunks, page by page."""
        offset = 0
        while True:
            found = await self._ask("get", {"limit": size, "offset": offset, "include": include}, where)
            if found["ids"]:
                yield found
            offset += size
            if len(found["ids"]) < size:
                return

    async def _collection(self) -> Collection:
        """The collection as it was last described."""
        if self._known is None or self._known.size is None:
            return await self._describe(f"/{quote(self.collection, safe='')}")
        return self._known

    async def _describe(self, path: str, body: Mapping[str, Any] | None = None) -> Collection:
        async def described() -> Collection:
            found = await self._send(path, body)
            return Collection(str(found["id"]), found.get("dimension"))

        self._known = await self._calls.acall(described)
        return self._known

    async def _ask(self, operation: str, body: Mapping[str, Any] | None = None, where: Where = None) -> Any:
        """The JSON of one operation on the collection: a POST of *body*, or a GET without one.

        A collection that was created again meanwhile has another id, so one that is missing is looked up once more.
        """
        if condition := chroma_where(conditions(where)):
            body = {**(body or {}), "where": condition}
        known = await self._collection()
        try:
            return await self._calls.acall(lambda: self._send(f"/{known.id}/{operation}", body))
        except CollectionMissing:
            self._known = None
            again = await self._collection()
            return await self._calls.acall(lambda: self._send(f"/{again.id}/{operation}", body))

    async def _send(self, path: str, body: Mapping[str, Any] | None) -> Any:
        if body is None:
            response = await self._http.get(f"{COLLECTIONS}{path}")
        else:
            content = orjson.dumps(body, option=orjson.OPT_SERIALIZE_NUMPY)
            json_type = {"Content-Type": "application/json"}
            response = await self._http.post(f"{COLLECTIONS}{path}", content=content, headers=json_type)
        if response.status_code == httpx.codes.NOT_FOUND and b'"NotFoundError"' in response.content:
            raise CollectionMissing(f"The vector store holds no collection named {self.collection!r}.")
        response.raise_for_status()
        return orjson.loads(response.content)
