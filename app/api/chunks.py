"""One stored chunk by its id, so that whoever shows a citation can show the quote where it stands."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.responses import Response
from pydantic import BaseModel, Field

from app.api.errors import JSON, error_response
from app.api.query_schemas import ErrorBody
from app.providers.stores.hybrid import ChunkStore
from app.providers.stores.payloads import chunk_from_payload

MAX_ID_CHARS = 1_020
"""Longest chunk id that ingest takes (``app.ingest.documents.ChunkId``)."""

ERRORS: dict[int | str, dict[str, Any]] = {
    401: {"model": ErrorBody, "description": "`UNAUTHORIZED`: a key is needed"},
    404: {"model": ErrorBody, "description": "`NOT_FOUND`: no chunk has this id (any more)"},
    503: {"model": ErrorBody, "description": "`RETRIEVAL_FAILED`: the store did not answer"},
}


class StoredChunk(BaseModel):
    """A chunk as it is stored. ``start`` and ``end`` of an evidence row count code points of ``text``."""

    chunkId: str = Field(examples=["safety_manual.pdf#3"])
    documentId: str = Field(examples=["safety_manual.pdf"])
    title: str = Field(examples=["Safety Manual"])
    text: str
    url: str | None
    chapter: str | None
    section: str | None
    page: int | None = Field(description="1-based")


def chunk_routes(store: ChunkStore) -> APIRouter:
    """``GET /api/v1/chunks/{chunkId}`` over *store*."""
    router = APIRouter(prefix="/api/v1/chunks", tags=["chunks"])

    @router.get("/{chunkId:path}", response_model=StoredChunk, responses=ERRORS)
    async def chunk(
        chunkId: Annotated[  # noqa: N803  # the name of the wire
            str,
            Path(max_length=MAX_ID_CHARS, description="percent-encoded", examples=["safety_manual.pdf#3"]),
        ],
    ) -> Response:
        """The text, title and place of a chunk that an evidence row names."""
        found = await store.aget_by_ids([chunkId])
        if not found:
            return error_response(404, "No chunk has this id.")
        one = chunk_from_payload(chunkId, {"page_content": found[0].page_content, "metadata": found[0].metadata})
        stored = StoredChunk(
            chunkId=chunkId,
            documentId=one.document_id,
            title=one.title,
            text=one.text,
            url=one.url,
            chapter=one.chapter,
            section=one.section,
            page=one.page,
        )
        return JSON(stored.model_dump())

    return router
