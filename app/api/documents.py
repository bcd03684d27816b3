"""List, show and delete the stored documents, and show their files and single chunks."""

from __future__ import annotations

import asyncio
from collections.abc import Sized
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import FileResponse, Response
from langchain_core.documents import Document
from pydantic import Field

from app.api.errors import error_response
from app.api.ingest import PATH, DocumentId, find_original, path_id, require_writer
from app.api.schemas import WireModel
from app.ingest.documents import MAX_ID_CHARS
from app.ingest.loaders.table import MAX_FILE_BYTES
from app.ingest.manifest import find_originals
from app.providers.stores.hybrid import ChunkStore
from app.providers.stores.payloads import chunk_from_payload
from graph.state import Chunk

MAX_ROWS = 1_000
"""Most documents of a list, and most chunks of a document, in one response."""
BATCH = 500  # chunks of one call to the store

PDF, PDF_TYPE = ".pdf", "application/pdf"
PDF_HEADERS = {
    # No "sandbox": browsers refuse to open their PDF viewer in one.
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "private, no-cache",
}

ChunkId = Annotated[str, path_id("chunkId", MAX_ID_CHARS + 20, "what-is-knowledge-garden.md#0")]
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
    ingested_at: str | None = Field(description="UTC, ISO 8601", examples=["2026-11-23T09:30:00+00:00"])
    has_file: bool = Field(description="whether the file it was ingested from can be read again")


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
    has_file: bool
    chunks: list[StoredChunk]


class DeletedDocument(WireModel):
    """What was deleted."""

    id: str
    chunks: int


def document_routes(store: ChunkStore, keys: Sized, collection: Path) -> APIRouter:
    """Return the routes below ``/api/v1/documents``, ``/api/v1/files`` and ``/api/v1/chunks``.

    *collection* is the folder with the manifest; *keys* were checked before.
    """
    router = APIRouter(tags=["documents"])

    @router.get(PATH)
    async def documents(offset: Offset = 0, limit: Limit = MAX_ROWS) -> DocumentList:
        """Return the stored documents with their titles, numbers of chunks and times of ingest."""
        found = sorted((one, its) for one, its in (await store.asummaries()).items() if one)
        shown = dict(found[offset : offset + limit])
        hashes = {one: (its.content_hash,) for one, its in shown.items()}
        files = await asyncio.to_thread(find_originals, collection, hashes)
        rows = [StoredDocument(id=one, **its._asdict(), has_file=one in files) for one, its in shown.items()]
        return DocumentList(documents=rows, total=len(found))

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
        has_file = await find_original(store, collection, document_id) is not None
        title = chunks[0].title or document_id
        return DocumentText(
            id=document_id, title=title, total=len(chunks), offset=offset, has_file=has_file, chunks=shown
        )

    @router.get(
        "/api/v1/files/{documentId:path}", response_class=FileResponse, responses={200: {"content": {PDF_TYPE: {}}}}
    )
    async def file(document_id: DocumentId) -> Response:
        """Return the PDF that a stored document was ingested from, as the file is now."""
        original = await find_original(store, collection, document_id)
        if original and original[1].path.suffix.lower() == PDF:
            status = await asyncio.to_thread(original[1].path.stat)
            if status.st_size <= MAX_FILE_BYTES:
                name = original[1].path.name
                return FileResponse(
                    original[1].path,
                    200,
                    PDF_HEADERS,
                    PDF_TYPE,
                    filename=name,
                    stat_result=status,
                    content_disposition_type="inline",
                )
        return error_response(404, "There is no PDF of this document that can be read.")

    @router.delete(PATH + "/{documentId:path}", response_model=DeletedDocument)
    async def delete(request: Request, document_id: DocumentId) -> DeletedDocument | Response:
        """Delete one document from the collection. Who may upload may delete; the original file stays."""
        require_writer(request, keys)
        deleted = await store.adelete_documents([document_id])
        if not deleted:
            return error_response(404, "No document has this id.")
        await store.aflush()
        return DeletedDocument(id=document_id, chunks=deleted)

    @router.get("/api/v1/chunks/{chunkId:path}", response_model=StoredChunk, tags=["chunks"])
    async def chunk(chunk_id: ChunkId) -> StoredChunk | Response:
        """Return the text, title and position of a chunk that an evidence row names."""
        found = await store.aget_by_ids([chunk_id])
        return StoredChunk.model_validate(_chunk(found[0])) if found else error_response(404, "No chunk has this id.")

    return router


def _chunk(stored: Document) -> Chunk:
    return chunk_from_payload(str(stored.id), {"page_content": stored.page_content, "metadata": stored.metadata})
