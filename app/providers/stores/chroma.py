"""A Chroma server as the store: one collection, ours or another pipeline's, through chromadb's own client.

Every operation looks the collection up, as one that was created again has another id. Chroma here has no sparse channel
and keeps one vector per chunk: the keyword part of a score is 0, and sentences are embedded when first needed. Cosines
are computed from the returned vectors, so they are right whatever space (cosine, l2, ip) the collection has.

Metadata is flat, of text, numbers and booleans; other values are stored as JSON text under their own name (``spans``
is), and ``json_fields`` lists those names. For filters, each text or number of such a list has a field of its own too.
"""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import orjson
from chromadb.api.models.AsyncCollection import AsyncCollection
from langchain_core.embeddings import Embeddings
from langchain_core.utils.iter import batch_iterate

from app.providers.embeddings.vectors import unit
from app.providers.stores.chroma_client import ChromaClient
from app.providers.stores.filters import Condition, Where
from app.providers.stores.hybrid import HybridHits, HybridQuery, check_size
from app.providers.stores.layout import CONTENT, METADATA, Point
from app.providers.stores.payloads import as_candidate, as_point, metadata_of, with_text
from app.providers.stores.remote import PAGE, SAMPLE, RemoteStore
from graph.errors import CollectionMissing, ConfigurationError, StoreUnavailable

BATCH = 128
"""Chunks per request with vectors."""
JSON_FIELDS = "json_fields"
_NO_CHUNK = {"garden_nowhere": "nothing"}
"""A condition that matches no chunk."""


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
        text_field: str = "",
    ) -> None:
        super().__init__(embedding, collection, size, seconds=seconds, text_field=text_field)
        self._client: ChromaClient = ChromaClient(url, collection, seconds)

    async def ahybrid(self, queries: Sequence[HybridQuery], limit: int, where: Where = None) -> HybridHits:
        """See ``HybridStore``; there is one channel, and no ``idf``."""
        self._note("no_sparse_vectors", effect="keywords do not count, sentences are embedded when needed")
        collection, condition = await self._open(), await self._where(where)
        if not limit or not (size := _size_of(collection)):
            return HybridHits([[] for _ in queries])
        check_size(self.collection, size, len(queries[0].dense), StoreUnavailable)

        vectors: list[Any] = [query.dense for query in queries]
        wanted: Any = ["documents", "metadatas", "embeddings"]
        found: Any = await self._ask(collection.query, vectors, n_results=limit, where=condition, include=wanted)
        columns = (found["ids"], found["documents"], found["metadatas"], found["embeddings"])
        candidates = [
            [
                as_candidate(row_id, row_id, self._payload(text, metadata), unit(vector))
                for row_id, text, metadata, vector in zip(*rows, strict=True)
            ]
            for rows in zip(*columns, strict=True)
        ]
        return HybridHits(self._readable(candidates))

    async def aupsert(self, points: Sequence[Point]) -> None:
        if not points:
            return
        collection = await self._open(create=True)
        for point in points:
            check_size(self.collection, _size_of(collection), len(point.dense), ConfigurationError)
        for batch in batch_iterate(BATCH, points):
            await self._write(collection, {point.chunk_id: point for point in batch})

    async def acount(self) -> int:
        try:
            return await self._ask((await self._open()).count)
        except CollectionMissing:
            return 0

    async def acollection_names(self) -> list[str]:
        return [collection.name for collection in await self._ask(self._client.list_collections)]

    async def ahas(self, where: Where) -> bool:
        found: Any = await self._ask((await self._open()).get, where=await self._where(where), limit=1, include=[])
        return bool(found["ids"])

    async def apoints(self) -> AsyncIterator[list[Point]]:
        async for found in self._pages(BATCH, ["documents", "metadatas", "embeddings"]):
            vectors = unit(found["embeddings"])
            reads = map(self._payload, found["documents"], found["metadatas"])
            rows = zip(found["ids"], reads, vectors, strict=True)
            yield [as_point(row_id, read, vector, vector[None][:0]) for row_id, read, vector in rows]

    async def _sample(self) -> list[dict[str, Any]]:
        found: Any = await self._ask((await self._open()).get, limit=SAMPLE, include=["documents", "metadatas"])
        return list(map(self._payload, found["documents"], found["metadatas"]))

    def _payload(self, document: str | None, row: Mapping[str, Any] | None) -> dict[str, Any]:
        return with_text(payload(document, row), self._text_field)

    async def _size(self) -> int | None:
        return _size_of(await self._open())

    async def _metadata(self, fields: Sequence[str] | None, where: Where = None) -> dict[Any, dict[str, Any]]:
        pages = self._pages(PAGE, ["metadatas"], where)
        rows = [row async for found in pages for row in zip(found["ids"], found["metadatas"], strict=True)]
        return {row_id: metadata_of(payload(None, metadata)) for row_id, metadata in rows}

    async def _fetch(self, chunk_ids: Sequence[str]) -> dict[str, dict[str, Any]]:
        if not chunk_ids:
            return {}
        found: Any = await self._ask((await self._open()).get, list(set(chunk_ids)))
        return dict(zip(found["ids"], map(self._payload, found["documents"], found["metadatas"]), strict=True))

    async def _remove(self, ids: Sequence[str]) -> None:
        for batch in batch_iterate(PAGE, ids):
            await self._ask((await self._open()).delete, batch)

    async def _pages(self, size: int, include: Any, where: Where = None) -> AsyncIterator[dict[str, Any]]:
        """Yield the columns of the matching chunks, page by page."""
        read: Any = partial((await self._open()).get, where=await self._where(where), include=include)
        offset = 0
        while (found := await self._ask(read, limit=size, offset=offset))["ids"]:
            yield found
            offset += size

    async def _write(self, collection: AsyncCollection, batch: dict[str, Point]) -> None:
        ids, written = list(batch), list(batch.values())
        found: Any = await self._ask(collection.get, ids, include=["metadatas"])
        stored = dict(zip(found["ids"], found["metadatas"], strict=True))
        vectors: Any = [point.dense for point in written]
        metadatas: Any = [flat(point.metadata, stored.get(point.chunk_id)) for point in written]
        texts = [point.text for point in written]
        await self._ask(collection.upsert, ids, vectors, metadatas, texts)

    async def _where(self, where: Where) -> dict[str, Any] | None:
        return chroma_where(await self._exact(where, days=True)) if where else None

    async def _open(self, *, create: bool = False) -> AsyncCollection:
        """Look the collection up; *create* makes it, for cosines, where there is none."""
        made = partial(self._client.get_or_create_collection, configuration={"hnsw": {"space": "cosine"}})
        found = await self._ask(made if create else self._client.get_collection, self.collection)
        return AsyncCollection(self._client, found, embedding_function=None)


def _size_of(collection: AsyncCollection) -> int | None:
    """Return the dimension of the vectors; None until there is one."""
    size: int | None = collection.get_model()["dimension"]
    return size


def flat(metadata: Mapping[str, Any], stored: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Flatten *metadata*. Chroma's upsert merges: what only *stored* has is set to null, which deletes it."""
    row = {name: value for name, value in metadata.items() if value is not None}
    packed = {
        name: orjson.dumps(value).decode() for name, value in row.items() if not isinstance(value, str | int | float)
    }
    if packed:
        elements = {_element(name, element): True for name in packed for element in _listed(row[name])}
        row |= {**packed, **elements, JSON_FIELDS: orjson.dumps(list(packed)).decode()}
    return dict.fromkeys(stored or ()) | row


def payload(document: str | None, row: Mapping[str, Any] | None) -> dict[str, Any]:
    """Read a stored row, ours or another pipeline's, as ``payloads`` expects it."""
    metadata = dict(row or {})
    listed = _unpacked(metadata.pop(JSON_FIELDS, None))
    for name in {"spans", *(listed if isinstance(listed, list) else ())} & metadata.keys():
        metadata[name] = _unpacked(metadata[name])
        for element in _listed(metadata[name]):
            metadata.pop(_element(name, element), None)
    return {CONTENT: document, METADATA: metadata} if document else metadata


def chroma_where(conditions: list[Condition]) -> dict[str, Any] | None:
    """Write *conditions* as Chroma's ``where``; None without any."""
    rows = [_any(condition) for condition in conditions]
    return None if not rows else rows[0] if len(rows) == 1 else {"$and": rows}


def _any(condition: Condition) -> dict[str, Any]:
    by_type = [[value for value in condition.values if type(value) is kind] for kind in (str, int, float, bool)]
    rows: list[Any] = [{name: {"$in": same}} for name in condition.fields for same in by_type if same]
    rows += [{_element(name, value): True} for name in condition.fields for value in condition.values]
    return _NO_CHUNK if not rows else rows[0] if len(rows) == 1 else {"$or": rows}


def _element(name: str, value: Any) -> str:
    """Return the field that says that the list *name* holds *value*."""
    return f"{name}={value}"


def _listed(value: Any) -> list[str | int]:
    return [element for element in value if isinstance(element, str | int)] if isinstance(value, list) else []


def _unpacked(value: object) -> Any:
    with suppress(orjson.JSONDecodeError):
        return orjson.loads(value) if isinstance(value, str) else value
    return value
