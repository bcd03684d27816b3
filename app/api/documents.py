"""List, show and delete stored documents; show one chunk; list what was ingested."""

import asyncio
from pathlib import Path
from typing import Annotated, Any

import fastapi
from fastapi import APIRouter, HTTPException, Query, Request
from langchain_core.documents import Document
from pydantic import AfterValidator, Field

from answering.types import Chunk
from app.api.collections import CollectionName
from app.api.middleware import ApiKeys, require_writer
from app.api.schemas import NamedChunk, WireModel
from app.bootstrap.collections import Collections, OpenCollection
from app.ingest.documents import MAX_ID_CHARS, nfc
from app.ingest.find import FoundFile
from app.ingest.manifest import find_originals, forget_upload, note_deleted, synced_paths
from app.providers.stores.payloads import chunk_from_payload

PATH = "/api/v1/documents"
MAX_ROWS = 1_000
"""Most documents of a list, and most chunks of a document, in one response."""
BATCH = 500  # chunks of one call to the store
NO_DOCUMENT = "No document has this id."
STAYS_DELETED = "garden ingest leaves it out from now on, until it is run with --restore."


def _id(alias: str, longest: int, example: str) -> Any:
    return fastapi.Path(
        alias=alias, min_length=1, max_length=longest, description="percent-encoded", examples=[example]
    )


DocumentId = Annotated[str, AfterValidator(nfc), _id("documentId", MAX_ID_CHARS, "safety_manual.pdf")]
PdfChunkId = Annotated[str, _id("chunkId", MAX_ID_CHARS + 20, "safety_manual.pdf#3")]
ChunkId = Annotated[str, _id("chunkId", MAX_ID_CHARS + 20, "what-is-knowledge-garden.md#0")]
Offset = Annotated[int, Query(ge=0, description="how many to skip", examples=[0])]
Limit = Annotated[int, Query(ge=1, le=MAX_ROWS, description="most to return", examples=[100])]


class StoredChunk(NamedChunk):
    """A chunk as it is stored. ``start`` and ``end`` of an evidence row count code points of ``text``."""

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
    has_file: bool = Field(description="whether its file can be read again")


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


class SyncedFolder(WireModel):
    """A file or folder that was ingested on the machine that serves."""

    path: str = Field(examples=["/srv/handbook"])
    synced_at: str = Field(description="when its documents were last in step; UTC, ISO 8601")
    watched: bool = Field(description="whether `garden ingest --watch` keeps them so")


class FolderList(WireModel):
    """The ingested files and folders, by path."""

    folders: list[SyncedFolder]


class DeletedDocument(WireModel):
    """What was deleted, and what that means for the next ingest."""

    id: str
    chunks: int
    note: str


def document_routes(collections: Collections, keys: ApiKeys) -> APIRouter:
    """Return the routes of stored documents, except those that ingest, and that of a chunk."""
    router = APIRouter(tags=["documents"])

    @router.get(PATH)
    async def documents(offset: Offset = 0, limit: Limit = MAX_ROWS, collection: CollectionName = None) -> DocumentList:
        """Return the stored documents with their titles, numbers of chunks and times of ingest."""
        async with collections.use(collection) as of:
            return await list_documents(of, offset, limit)

    @router.get("/api/v1/folders")
    async def folders(request: Request, collection: CollectionName = None) -> FolderList:
        """Return the files and folders that `garden ingest` read, and which of them are watched. For who may upload."""
        require_writer(request, keys)
        async with collections.use(collection) as of:
            found = await asyncio.to_thread(synced_paths, of.folder)
        rows = [SyncedFolder(path=folder.path, synced_at=folder.synced, watched=folder.watched) for folder in found]
        return FolderList(folders=rows)

    @router.get(PATH + "/{documentId:path}")
    async def document(
        document_id: DocumentId,
        offset: Offset = 0,
        limit: Limit = MAX_ROWS,
        around: Annotated[str | None, Query(description="a chunk id: choose the offset so that it is shown")] = None,
        collection: CollectionName = None,
    ) -> DocumentText:
        """Return the text of one document, chunk by chunk."""
        async with collections.use(collection) as of:
            found = await read_document(of, document_id, offset, limit, around)
        if found is None:
            raise HTTPException(404, NO_DOCUMENT)
        return found

    @router.delete(PATH + "/{documentId:path}")
    async def delete(request: Request, document_id: DocumentId, collection: CollectionName = None) -> DeletedDocument:
        """Delete one document, and the file if it was uploaded; other files stay, and are not ingested again unasked.

        Who may upload may delete.
        """
        require_writer(request, keys)
        async with collections.use(collection) as opened:
            deleted = await delete_document(opened, document_id)
        if deleted is None:
            raise HTTPException(404, NO_DOCUMENT)
        return deleted

    @router.get("/api/v1/chunks/{chunkId:path}", tags=["chunks"])
    async def chunk(chunk_id: ChunkId, collection: CollectionName = None) -> StoredChunk:
        """Return the text, title and position of a chunk that an evidence row names."""
        async with collections.use(collection) as of:
            stored = await of.store.aget_by_ids([chunk_id])
        if not stored:
            raise HTTPException(404, "No chunk has this id.")
        return StoredChunk.model_validate(chunk_of(stored[0]))

    return router


async def list_documents(of: OpenCollection, offset: int = 0, limit: int = MAX_ROWS) -> DocumentList:
    """Return at most *limit* documents of a collection from the one at *offset*, by their ids."""
    summaries = sorted((id_, summary) for id_, summary in (await of.store.asummaries()).items() if id_)
    shown = dict(summaries[offset : offset + limit])
    hashes = {id_: (summary.content_hash,) for id_, summary in shown.items()}
    files = await asyncio.to_thread(find_originals, of.folder, hashes)
    rows = [StoredDocument(id=id_, **summary._asdict(), has_file=id_ in files) for id_, summary in shown.items()]
    return DocumentList(documents=rows, total=len(summaries))


async def read_document(
    of: OpenCollection, document_id: str, offset: int = 0, limit: int = MAX_ROWS, around: str | None = None
) -> DocumentText | None:
    """Return at most *limit* chunks of a document from *offset*, or about the chunk *around*; None if there is none."""
    ids = list(await of.store.achunk_hashes(document_id))
    batches = [await of.store.aget_by_ids(ids[start : start + BATCH]) for start in range(0, len(ids), BATCH)]
    chunks = [chunk_of(point) for batch in batches for point in batch]
    if not chunks:
        return None
    chunks.sort(key=lambda chunk: (chunk.chunk_index or 0, chunk.chunk_id))
    position = next((n for n, chunk in enumerate(chunks) if chunk.chunk_id == around), None)
    if position is not None:
        offset = max(0, min(position - limit // 2, len(chunks) - limit))
    shown = [StoredChunk.model_validate(chunk) for chunk in chunks[offset : offset + limit]]
    return DocumentText(
        id=document_id,
        title=chunks[0].title or document_id,
        total=len(chunks),
        offset=offset,
        has_file=bool(await find_original(of, document_id)),
        chunks=shown,
    )


async def delete_document(opened: OpenCollection, document_id: str) -> DeletedDocument | None:
    """Delete a document, and its file if it was uploaded; None if there is none. It stays deleted."""
    deleted = await opened.store.adelete_documents([document_id])
    if not deleted:
        return None
    await asyncio.to_thread(forget_upload, opened.folder, document_id)
    await asyncio.to_thread(note_deleted, opened.folder, document_id)
    return DeletedDocument(id=document_id, chunks=deleted, note=STAYS_DELETED)


async def find_original(of: OpenCollection, document_id: str) -> tuple[Path, FoundFile] | None:
    """Return the ingested path and the file of a stored document; None without a readable file."""
    hashes = (await of.store.achunk_hashes(document_id)).values()
    return (await asyncio.to_thread(find_originals, of.folder, {document_id: hashes})).get(document_id)


def chunk_of(stored: Document) -> Chunk:
    return chunk_from_payload(str(stored.id), {"page_content": stored.page_content, "metadata": stored.metadata})
