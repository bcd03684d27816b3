"""A Chroma server as the store: one collection, ours or another pipeline's, over HTTP.

Chroma here has no sparse channel and keeps one vector per chunk: the keyword part of a score is 0, and sentences are
embedded when first needed. Cosines are computed from the returned vectors, so they are right whatever space (cosine,
l2, ip) the collection was created with.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable, Iterator, Sequence
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.providers.embeddings.vectors import unit
from app.providers.http.retry import Retry
from app.providers.stores.chroma_http import ChromaHTTP
from app.providers.stores.chroma_rows import chroma_where, flat, own_id, payload
from app.providers.stores.hybrid import Candidate, HybridHits, HybridQuery, Where, conditions
from app.providers.stores.layout import Point
from app.providers.stores.payloads import chunk_from_payload, metadata_of, text_of
from app.providers.stores.remote import RemoteStore
from graph.errors import CollectionMissing, ConfigurationError, StoreUnavailable

BATCH, PAGE = 128, 1000
"""Chunks per request with vectors, and without."""
WIDER = 4
"""So many times more are asked for where the server's order is not that of the cosines."""
ALL = ["documents", "metadatas", "embeddings"]


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
        retry: Retry | None = None,
    ) -> None:
        """*seconds* is the time limit of one request."""
        super().__init__(embedding, collection, size, seconds=seconds, retry=retry)
        self._http = ChromaHTTP(url, collection, seconds, self._calls)

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        """See ``HybridStore``; there is one channel, and no ``idf``."""
        self._note("no_sparse_vectors", effect="keywords do not count, sentences are embedded when needed")
        known = await self._http.known()
        if known.size is None:
            return HybridHits([[] for _ in queries])
        self._fits(known.size, len(queries[0].dense), StoreUnavailable)
        body: dict[str, Any] = {
            "query_embeddings": [query.dense for query in queries],
            "n_results": limit if known.space == "cosine" else WIDER * limit,
            "include": ALL,
        }
        found = await self._ask("query", body, where)
        return HybridHits(
            [
                [
                    Candidate(own, chunk_from_payload(own, read), unit(vector), payload=read)
                    for own, read, vector in zip(ids, map(payload, documents, rows), vectors, strict=True)
                ]
                for ids, documents, rows, vectors in zip(found["ids"], *(found[name] for name in ALL), strict=True)
            ]
        )

    async def asentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, NDArray[np.float32]]:
        """None: Chroma keeps one vector per chunk."""
        return {}

    async def aupsert(self, points: Sequence[Point]) -> None:
        if not points:
            return
        try:
            known = await self._http.known()
        except CollectionMissing:
            known = await self._http.create()
        for point in points:
            self._fits(known.size, len(point.dense), ConfigurationError)
        for at in range(0, len(points), BATCH):
            batch = points[at : at + BATCH]
            ids = [own_id(point.chunk_id) for point in batch]
            stored = dict(_rows(await self._ask("get", {"ids": ids, "include": ["metadatas"]})))
            body = {
                "ids": ids,
                "embeddings": [np.ascontiguousarray(point.dense, np.float32) for point in batch],
                "documents": [point.text for point in batch],
                "metadatas": [flat(point.metadata, stored.get(own)) for own, point in zip(ids, batch, strict=True)],
            }
            await self._ask("upsert", body)

    async def acount(self) -> int:
        try:
            return int(await self._http.ask("count"))
        except CollectionMissing:
            return 0

    async def apoints(self) -> AsyncIterator[list[Point]]:
        async for found in self._pages(BATCH, ALL):
            vectors = unit(found["embeddings"])
            yield [
                Point(str(metadata.get("chunk_id") or own), text_of(read), metadata, vector, vector[None][:0])
                for own, read, vector in zip(found["ids"], _payloads(found), vectors, strict=True)
                for metadata in [metadata_of(read)]
            ]

    async def _size(self) -> int | None:
        return (await self._http.describe()).size

    async def _metadata(self, fields: Sequence[str], where: Where = None) -> list[tuple[str, dict[str, Any]]]:
        return [row async for found in self._pages(PAGE, ["metadatas"], where) for row in _rows(found)]

    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        if not chunk_ids:
            return {}
        by_id = {own_id(chunk_id): chunk_id for chunk_id in chunk_ids}
        found = await self._ask("get", {"ids": list(by_id), "include": ["documents", "metadatas"]})
        return {by_id[own]: read for own, read in zip(found["ids"], _payloads(found), strict=True)}

    async def _remove(self, ids: Sequence[str]) -> None:
        for at in range(0, len(ids), PAGE):
            await self._ask("delete", {"ids": list(ids[at : at + PAGE])})

    def _own_id(self, chunk_id: str) -> str:
        return own_id(chunk_id)

    async def _close_here(self) -> None:
        await self._http.transport.aclose()

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

    async def _ask(self, operation: str, body: dict[str, Any], where: Where = None) -> dict[str, Any]:
        condition = chroma_where(conditions(where))
        found: dict[str, Any] = await self._http.ask(operation, body | ({"where": condition} if condition else {}))
        return found


def _rows(found: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((own, dict(row or {})) for own, row in zip(found["ids"], found["metadatas"], strict=True))


def _payloads(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    return map(payload, found["documents"], found["metadatas"])
