"""Serve one stored chunk by its id, to show a quote where it stands."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path
from fastapi.responses import Response
from langchain_core.documents import Document
from pydantic import Field

from app.api.errors import JSON, error_response
from app.api.schemas import WireModel
from app.providers.stores.hybrid import ChunkStore
from app.providers.stores.payloads import chunk_from_payload
from graph.state import Chunk

MAX_ID_CHARS = 1_020
"""Longest chunk id that ingest takes (``app.ingest.documents.ChunkId``)."""


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


def chunk_routes(store: ChunkStore) -> APIRouter:
    """Return ``GET /api/v1/chunks/{chunkId}``."""
    router = APIRouter(prefix="/api/v1/chunks", tags=["chunks"])

    @router.get("/{chunkId:path}", response_model=StoredChunk)
    async def chunk(
        chunk_id: Annotated[
            str,
            Path(
                alias="chunkId",
                max_length=MAX_ID_CHARS,
                description="percent-encoded",
                examples=["what-is-knowledge-garden.md#0"],
            ),
        ],
    ) -> Response:
        """Return the text, title and position of a chunk that an evidence row names."""
        found = await store.aget_by_ids([chunk_id])
        if not found:
            return error_response(404, "No chunk has this id.")
        return JSON(StoredChunk.model_validate(chunk_of(found[0])).model_dump(by_alias=True))

    return router


def chunk_of(stored: Document) -> Chunk:
    """Return a document of the store as a chunk."""
    return chunk_from_payload(str(stored.id), {"page_content": stored.page_content, "metadata": stored.metadata})
