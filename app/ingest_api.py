"""Ingest beside a running server: the collection stays with the server, the files with the one who has them.

A client (``app.ingest.remote``) reads and splits the files itself, asks what is stored, and sends only what is new. A
path or an address in a request is never opened here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import AfterValidator, BaseModel, Field

from app.ingest.documents import ChunkId, DocumentId, Part
from app.ingest.sink import LocalSink, taken
from app.providers.layout import COLLECTION_NAME
from graph.errors import InvalidInput

OpenSink = Callable[[str | None], Awaitable[LocalSink]]
"""Collection name (``None``: the server's own) → the sink that writes to it. Raises errors of ``graph.errors``."""

MAX_ITEMS = 1_000
"""Parts, or documents to remove, in one request; its bytes are limited for every door alike."""

MAX_NAME_CHARS = 255


def _collection_name(name: str | None) -> str | None:
    if name is not None and not COLLECTION_NAME.fullmatch(name):
        raise ValueError("must be letters, digits, '_', '-' and '.', not first a '.'")
    return name


CollectionName = Annotated[str | None, Field(max_length=MAX_NAME_CHARS), AfterValidator(_collection_name)]


class Stored(BaseModel):
    """What a collection holds: content hash by document id, and the name of the model that embeds for it."""

    model: str
    documents: dict[str, str]


class IngestRequest(BaseModel):
    """What to do, in this order: say which documents hold the chunk ids in ``owners``, store ``parts``, remove
    documents, finish (flush, build the indexes)."""

    collection: CollectionName = None
    owners: list[ChunkId] = Field(default_factory=list, max_length=MAX_ITEMS)
    parts: list[Part] = Field(default_factory=list, max_length=MAX_ITEMS)
    remove: list[DocumentId] = Field(default_factory=list, max_length=MAX_ITEMS)
    finish: bool = False


class IngestResponse(BaseModel):
    """What was done; when it arrives, the parts are stored."""

    chunks: int
    removed: int
    owners: dict[str, str] = Field(default_factory=dict, description="chunk id -> the document that holds it")


def ingest_routes(open_sink: OpenSink, writing: asyncio.Lock) -> APIRouter:
    """``GET`` and ``POST /api/v1/ingest``. Requests that write are served one at a time, each holding ``writing``."""
    router = APIRouter(prefix="/api/v1/ingest", tags=["ingest"])

    @router.get("")
    async def stored(collection: Annotated[CollectionName, Query()] = None) -> Stored:
        """What the collection holds, to find out what is new."""
        model, documents = await (await open_sink(collection)).describe()
        return Stored(model=model, documents=documents)

    @router.post("")
    async def ingest(request: IngestRequest) -> IngestResponse:
        """Store chunks of documents, remove documents, build the indexes."""
        sink = await open_sink(request.collection)
        owners = await sink.owners(request.owners) if request.owners else {}
        async with writing:
            if request.parts:
                await _check_owners(sink, request.parts)
                await sink.write(request.parts)
                await sink.settle()
            if request.remove:
                await sink.remove(request.remove)
            if request.finish:
                await sink.finish()
        chunks = sum(len(part.chunks) for part in request.parts)
        return IngestResponse(chunks=chunks, removed=len(request.remove), owners=owners)

    return router


async def _check_owners(sink: LocalSink, parts: Sequence[Part]) -> None:
    """Raise ``InvalidInput`` for a part with a chunk that another document holds."""
    owners = await sink.owners([chunk.chunk_id for part in parts for chunk in part.chunks])
    for part in parts:
        if refused := taken(part.document.document_id, part.chunks, owners):
            raise InvalidInput(f"{refused[0].upper()}{refused[1:]}.", field="parts")
        owners |= {chunk.chunk_id: part.document.document_id for chunk in part.chunks}
