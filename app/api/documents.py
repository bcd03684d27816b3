"""Add, list, show and delete the stored documents, and show one chunk of them."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sized
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import fastapi
from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import Response
from langchain_core.documents import Document
from pydantic import Field

from app.api.errors import error_response
from app.api.middleware import is_loopback
from app.api.schemas import WireModel
from app.ingest.documents import MAX_ID_CHARS, IngestReport
from app.ingest.loaders.table import LOADERS
from app.ingest.pipeline import ingest_into
from app.ingest.sink import Sink
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.payloads import chunk_from_payload
from graph.errors import InvalidInput
from graph.state import Chunk

PATH = "/api/v1/documents"
MAX_UPLOAD = 32 * 1024 * 1024
"""Largest file in bytes; it is held in memory while it arrives."""
MAX_NAME_BYTES = 200
"""Longest file name in UTF-8; file systems allow 255."""
MAX_ROWS = 1_000
"""Most documents of a list, and most chunks of a document, in one response."""
BATCH = 500  # chunks of one call to the store

MEDIA_TYPE = "application/octet-stream"
"""The one content type taken. No form and no plain link can send it, so no other site's page can upload here."""
SUFFIXES = ", ".join(sorted(LOADERS))
UPLOAD: dict[str, Any] = {
    "requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}}
}


def _id(alias: str, longest: int, example: str) -> Any:
    return fastapi.Path(
        alias=alias, min_length=1, max_length=longest, description="percent-encoded", examples=[example]
    )


DocumentId = Annotated[str, _id("documentId", MAX_ID_CHARS, "handbook.md")]
ChunkId = Annotated[str, _id("chunkId", MAX_ID_CHARS + 20, "what-is-knowledge-garden.md#0")]
Offset = Annotated[int, Query(ge=0, description="how many to skip", examples=[0])]
Limit = Annotated[int, Query(ge=1, le=MAX_ROWS, description="most to return", examples=[100])]


class StoredChunk(WireModel):
    """A chunk as it is stored. ``start`` and ``end`` of an evidence row count code points of ``text``."""

    chunk_id: str = Field(examples=["safety_manual.pdf#3"])
    document_id: str = Field(examples=["safety_manual.pdf"])
    title: str = Field(examples=["Safety Manual"])
    text: str
    url: str | None
    chapter: str | None
    section: str | None
    page: int | None = Field(description="1-based")


class StoredDocument(WireModel):
    """One document of the list."""

    id: str = Field(examples=["handbook.md"])
    title: str = Field(examples=["Handbook"])
    chunks: int


class DocumentList(WireModel):
    """Documents in the order of their ids; ``total`` counts all that are stored."""

    documents: list[StoredDocument]
    total: int


class DocumentText(WireModel):
    """A document's chunks in their order, from the one at ``offset``; ``total`` counts all of them."""

    id: str
    title: str
    total: int
    offset: int
    chunks: list[StoredChunk]


class DeletedDocument(WireModel):
    """What was deleted."""

    id: str
    chunks: int


def document_routes(store: ChunkStore, sink: Sink, keys: Sized) -> APIRouter:
    """Return the routes below ``/api/v1/documents`` and ``/api/v1/chunks``; *keys* were checked before."""
    router = APIRouter(tags=["documents"])
    writing = asyncio.Lock()

    @router.post(PATH, openapi_extra=UPLOAD)
    async def upload(
        request: Request,
        name: Annotated[str, Query(description=f"file name; it ends in one of {SUFFIXES}", examples=["handbook.md"])],
    ) -> IngestReport:
        """Ingest one document, in any format that `garden ingest` reads; one at a time."""
        require_writer(request, keys)
        check_name(name)
        if request.headers.get("content-type", "").split(";")[0].strip().lower() != MEDIA_TYPE:
            raise InvalidInput(f"Content-Type must be {MEDIA_TYPE}.", "Content-Type")
        content = await request.body()
        if not content:
            raise InvalidInput("The file is empty.", "body")
        async with writing:
            report = await _ingest(sink, name, content)
        if report.skipped and not report.added + report.changed + report.unchanged:
            raise InvalidInput(f"{name} was not ingested: {report.skipped[0].reason}.", "body")
        return report

    @router.get(PATH)
    async def documents(offset: Offset = 0, limit: Limit = MAX_ROWS) -> DocumentList:
        """Return the stored documents with their titles and numbers of chunks."""
        found = sorted((await store.asummaries()).items())
        rows = [StoredDocument(id=one, title=title, chunks=chunks) for one, (title, chunks) in found if one]
        return DocumentList(documents=rows[offset : offset + limit], total=len(rows))

    @router.get(PATH + "/{documentId:path}", response_model=DocumentText)
    async def document(
        document_id: DocumentId,
        offset: Offset = 0,
        limit: Limit = MAX_ROWS,
        around: Annotated[str | None, Query(description="a chunk id: choose the offset so that it is shown")] = None,
    ) -> DocumentText | Response:
        """Return the text of one document, chunk by chunk."""
        ids = list(await store.achunk_hashes(document_id))
        batches = [await store.aget_by_ids(ids[start : start + BATCH]) for start in range(0, len(ids), BATCH)]
        chunks = [_chunk(one) for batch in batches for one in batch]
        if not chunks:
            return error_response(404, "No document has this id.")
        chunks.sort(key=lambda chunk: (chunk.chunk_index or 0, chunk.chunk_id))
        position = next((n for n, chunk in enumerate(chunks) if chunk.chunk_id == around), None)
        if position is not None:
            offset = max(0, min(position - limit // 2, len(chunks) - limit))
        shown = [StoredChunk.model_validate(chunk) for chunk in chunks[offset : offset + limit]]
        title = chunks[0].title or document_id
        return DocumentText(id=document_id, title=title, total=len(chunks), offset=offset, chunks=shown)

    @router.delete(PATH + "/{documentId:path}", response_model=DeletedDocument)
    async def delete(request: Request, document_id: DocumentId) -> DeletedDocument | Response:
        """Delete one document from the collection. Who may upload may delete; the original file stays."""
        require_writer(request, keys)
        deleted = await store.adelete_documents([document_id])
        if not deleted:
            return error_response(404, "No document has this id.")
        return DeletedDocument(id=document_id, chunks=deleted)

    @router.get("/api/v1/chunks/{chunkId:path}", response_model=StoredChunk, tags=["chunks"])
    async def chunk(chunk_id: ChunkId) -> StoredChunk | Response:
        """Return the text, title and position of a chunk that an evidence row names."""
        found = await store.aget_by_ids([chunk_id])
        return StoredChunk.model_validate(_chunk(found[0])) if found else error_response(404, "No chunk has this id.")

    return router


def may_write(request: Request, keys: Sized) -> bool:
    """Tell whether this request may add and delete documents.

    With keys, the middleware has checked one. Without, the caller must be on this machine and address it by one of its
    own names, so that a foreign name that resolves to loopback does not do.
    """
    host = urlsplit(f"//{request.headers.get('host', '')}").hostname
    return bool(keys) or (is_loopback(request.client.host if request.client else None) and is_loopback(host))


def require_writer(request: Request, keys: Sized) -> None:
    """Raise ``HTTPException`` 403 unless this request may add and delete documents."""
    if not may_write(request, keys):
        raise HTTPException(403, "Documents are added and deleted from this machine only, unless API_KEYS is set.")


def check_name(name: str) -> None:
    """Raise ``InvalidInput`` unless *name* is a plain file name with a known suffix."""
    if not name.strip() or name.startswith(".") or any(sign in name for sign in "/\\") or not name.isprintable():
        raise InvalidInput("The name must be a plain file name, without folders.", "name")
    if len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES:
        raise InvalidInput(f"The name must be at most {MAX_NAME_BYTES} bytes long.", "name")
    if Path(name).suffix.lower() not in LOADERS:
        raise InvalidInput(f"The name must end in one of {SUFFIXES}.", "name")


async def _ingest(sink: Sink, name: str, content: bytes) -> IngestReport:
    """Ingest *content* from a temporary file of its own name, as ``garden ingest FILE`` does."""
    folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="garden-upload-")
    try:
        path = Path(folder.name, name)
        await asyncio.to_thread(path.write_bytes, content)
        return await ingest_into(sink, [path])
    finally:
        await asyncio.to_thread(folder.cleanup)


def _chunk(stored: Document) -> Chunk:
    return chunk_from_payload(str(stored.id), {"page_content": stored.page_content, "metadata": stored.metadata})
