"""A Chroma server as the store: one collection, ours or another pipeline's, over HTTP.

Chroma here has no sparse channel and keeps one vector a chunk: the keyword part of a score is 0, and sentences are
embedded when a question first meets them. Vectors come back with the chunks and cosines are computed of them, so they
are right whatever space (cosine, l2, ip) the collection was made with.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.providers.embeddings.vectors import Vectors, unit
from app.providers.http.retry import Retry
from app.providers.stores.chroma_http import ChromaHTTP
from app.providers.stores.chroma_rows import chroma_where, flat, own_id, payload
from app.providers.stores.filters import conditions
from app.providers.stores.hybrid import Candidate, HybridHits, HybridQuery
from app.providers.stores.langchain_store import Near, Where
from app.providers.stores.layout import Point, point_of
from app.providers.stores.payloads import chunk_from_payload
from app.providers.stores.remote import RemoteStore
from graph.errors import CollectionMissing, ConfigurationError, StoreUnavailable

BATCH = 128
"""Chunks per request when writing."""
PAGE = 1000
"""Chunks per request when the whole collection is walked."""
WIDER = 4
"""So many times more are asked for where the server's own order is not that of the cosines."""


class Row(NamedTuple):
    """A chunk as it came: Chroma's id, the payload, and its vector scaled to length 1, float32 [d]."""

    id: str
    payload: dict[str, Any]
    vector: Vectors


class ChromaStore(RemoteStore):
    """One collection of a Chroma server: ``VectorStore``, ``ChunkStore`` and ``HybridStore``."""

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
        """*seconds* is the time of one try of one request. Nothing is contacted."""
        super().__init__(embedding, collection, size, seconds=seconds, retry=retry)
        self._http = ChromaHTTP(url, collection, seconds, self._calls)

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        """See ``HybridStore``; there is one channel, and no ``idf``."""
        self._say_once("no_sparse_vectors", effect="keywords do not count, sentences are embedded when needed")
        found = await self._query(np.stack([query.dense for query in queries]), limit, where)
        return HybridHits(
            [[Candidate(one.id, chunk_from_payload(one.id, one.payload), one.vector) for one in row] for row in found]
        )

    async def asentences(self, candidates: Sequence[Candidate]) -> dict[Hashable, NDArray[np.float32]]:
        """None: Chroma keeps one vector a chunk."""
        return {}

    async def aupsert(self, points: Sequence[Point]) -> None:
        """Store the points, replacing those of the same chunk id; the first call makes the collection."""
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
            stored = dict(await self._http.ask("get", _rows, {"ids": ids, "include": ["metadatas"]}))
            body = {
                "ids": ids,
                "embeddings": [np.ascontiguousarray(point.dense, np.float32) for point in batch],
                "documents": [point.text for point in batch],
                "metadatas": [flat(point.metadata, stored.get(own_id(point.chunk_id))) for point in batch],
            }
            await self._http.ask("upsert", _done, body)

    async def acount(self) -> int:
        """The number of stored chunks; 0 for a collection not made yet."""
        try:
            return await self._http.ask("count", int)
        except CollectionMissing:
            return 0

    async def apoints(self) -> AsyncIterator[list[Point]]:
        """Every stored chunk with its one vector, page by page."""
        at = 0
        while True:
            body = {"limit": BATCH, "offset": at, "include": ["documents", "metadatas", "embeddings"]}
            page = await self._http.ask("get", _points, body)
            if page:
                yield page
            at += len(page)
            if len(page) < BATCH:
                return

    async def _size(self) -> int | None:
        return (await self._http.describe()).size

    async def _near(self, vector: NDArray[Any], k: int, where: Where) -> list[Near]:
        (found,) = await self._query(vector[None], k, where)
        near = [Near(own, read, float(row @ vector)) for own, read, row in found]
        return sorted(near, key=lambda one: -one.cosine)[:k]

    async def _metadata(self, fields: Sequence[str], where: Where = None) -> list[tuple[str, dict[str, Any]]]:
        condition = chroma_where(conditions(where))
        rows: list[tuple[str, dict[str, Any]]] = []
        while True:
            body: dict[str, Any] = {"limit": PAGE, "offset": len(rows), "include": ["metadatas"]}
            page = await self._http.ask("get", _rows, body | ({"where": condition} if condition else {}))
            rows += page
            if len(page) < PAGE:
                return rows

    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        if not chunk_ids:
            return {}
        by_id = {own_id(chunk_id): chunk_id for chunk_id in chunk_ids}
        body = {"ids": list(by_id), "include": ["documents", "metadatas"]}
        return {by_id[own]: read for own, read in await self._http.ask("get", _payloads, body)}

    async def _remove(self, ids: Sequence[str]) -> None:
        for at in range(0, len(ids), PAGE):
            await self._http.ask("delete", _done, {"ids": list(ids[at : at + PAGE])})

    async def _remove_all(self) -> None:
        await self._remove([own for own, _ in await self._metadata([])])

    def _own_id(self, chunk_id: str) -> str:
        return own_id(chunk_id)

    async def _close_here(self) -> None:
        await self._http.aclose()

    async def _query(self, vectors: Vectors, limit: int, where: Where) -> list[list[Row]]:
        """Per vector the nearest chunks."""
        known = await self._http.known()
        if known.size is None:
            return [[] for _ in vectors]
        self._fits(known.size, vectors.shape[1], StoreUnavailable)
        condition = chroma_where(conditions(where))
        body: dict[str, Any] = {
            "query_embeddings": list(np.ascontiguousarray(vectors, np.float32)),
            "n_results": limit if known.space == "cosine" else WIDER * limit,
            "include": ["documents", "metadatas", "embeddings"],
        }
        return await self._http.ask("query", _hits, body | ({"where": condition} if condition else {}))


def _done(_: Any) -> None:
    """Nothing is read of an acknowledgement."""


def _rows(found: Any) -> list[tuple[str, dict[str, Any]]]:
    return [(str(own), dict(row or {})) for own, row in zip(found["ids"], found["metadatas"], strict=True)]


def _payloads(found: Any) -> list[tuple[str, dict[str, Any]]]:
    rows = zip(found["ids"], found["documents"], found["metadatas"], strict=True)
    return [(str(own), payload(document, row)) for own, document, row in rows]


def _points(found: Any) -> list[Point]:
    parts = zip(found["ids"], found["documents"], found["metadatas"], found["embeddings"], strict=True)
    return [point_of(str(own), payload(document, row), unit(vector)) for own, document, row, vector in parts]


def _hits(found: Any) -> list[list[Row]]:
    parts = zip(found["ids"], found["documents"], found["metadatas"], found["embeddings"], strict=True)
    return [
        [
            Row(str(own), payload(document, row), vector)
            for own, document, row, vector in zip(ids, documents, rows, unit(raw) if raw else (), strict=True)
        ]
        for ids, documents, rows, raw in parts
    ]
