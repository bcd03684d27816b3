"""List, show and delete the stored documents; ``app/api/upload.py`` adds them."""

from __future__ import annotations

from collections.abc import Sized
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response
from pydantic import Field

from app.api.chunks import StoredChunk, chunk_of
from app.api.errors import JSON, error_response
from app.api.schemas import WireModel
from app.api.upload import PATH, may_upload
from app.ingest.documents import MAX_ID_CHARS
from app.providers.stores.hybrid import ChunkStore

MAX_ROWS = 1_000
"""Most documents of a list, and most chunks of a document, in one response."""
BATCH = 500  # chunks of one call to the store

DocumentId = Annotated[
    str,
    Path(
        alias="documentId",
        min_length=1,
        max_length=MAX_ID_CHARS,
        description="percent-encoded",
        examples=["handbook.md"],
    ),
]
Offset = Annotated[int, Query(ge=0, description="how many to skip", examples=[0])]
Limit = Annotated[int, Query(ge=1, le=MAX_ROWS, description="most to return", examples=[100])]


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


def document_routes(store: ChunkStore, keys: Sized) -> APIRouter:
    """Return ``GET /api/v1/documents``, and ``GET`` and ``DELETE /api/v1/documents/{documentId}``."""
    router = APIRouter(prefix=PATH, tags=["documents"])

    @router.get("")
    async def documents(offset: Offset = 0, limit: Limit = MAX_ROWS) -> DocumentList:
        """Return the stored documents with their titles and numbers of chunks."""
        found = sorted((await store.asummaries()).items())
        rows = [StoredDocument(id=one, title=title, chunks=chunks) for one, (title, chunks) in found if one]
        return DocumentList(documents=rows[offset : offset + limit], total=len(rows))

    @router.get("/{documentId:path}", response_model=DocumentText)
    async def document(
        document_id: DocumentId,
        offset: Offset = 0,
        limit: Limit = MAX_ROWS,
        around: Annotated[str | None, Query(description="a chunk id: choose the offset so that it is shown")] = None,
    ) -> Response:
        """Return the text of one document, chunk by chunk."""
        ids = list(await store.achunk_hashes(document_id))
        chunks = [
            chunk_of(one)
            for start in range(0, len(ids), BATCH)
            for one in await store.aget_by_ids(ids[start : start + BATCH])
        ]
        if not chunks:
            return error_response(404, "No document has this id.")
        chunks.sort(key=lambda chunk: (chunk.chunk_index or 0, chunk.chunk_id))
        position = next((n for n, chunk in enumerate(chunks) if chunk.chunk_id == around), None)
        if position is not None:
            offset = max(0, min(position - limit // 2, len(chunks) - limit))
        text = DocumentText(
            id=document_id,
            title=chunks[0].title or document_id,
            total=len(chunks),
            offset=offset,
            chunks=[StoredChunk.model_validate(chunk) for chunk in chunks[offset : offset + limit]],
        )
        return JSON(text.model_dump(by_alias=True))

    @router.delete("/{documentId:path}", response_model=DeletedDocument)
    async def delete(request: Request, document_id: DocumentId) -> Response:
        """Delete one document from the collection. Who may upload may delete; the original file stays."""
        if not may_upload(request, keys):
            return error_response(403, "Documents are deleted from this machine only, unless API_KEYS is set.")
        deleted = await store.adelete_documents([document_id])
        if not deleted:
            return error_response(404, "No document has this id.")
        await store.aflush()
        return JSON(DeletedDocument(id=document_id, chunks=deleted).model_dump(by_alias=True))

    return router
