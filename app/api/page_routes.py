"""Serve the web page: its files, what it offers, and the PDFs it links to."""

from pathlib import Path
from typing import Annotated, Any

import orjson
from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import FileResponse, Response
from pydantic import Field
from starlette.staticfiles import StaticFiles

from app.api.collections import CollectionName
from app.api.documents import DocumentId, PdfChunkId, chunk_of, find_original
from app.api.middleware import ApiKeys, may_write
from app.api.schemas import WireModel
from app.api.uploads import MAX_UPLOAD
from app.bootstrap.collections import Collections, OpenCollection
from app.ingest.find import SAMPLE_FOLDER, sample_paths
from app.ingest.loaders.table import LOADERS
from app.ingest.reading import PagePictures
from graph.errors import UnknownCollection

PDF, PNG = "application/pdf", "image/png"
FOLDER = Path(__file__).with_name("page")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' blob:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
_OFFSET = "in code points of the chunk's text"
Start = Annotated[int | None, Query(ge=0, description=_OFFSET, examples=[20])]
End = Annotated[int | None, Query(ge=0, description=_OFFSET, examples=[220])]
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",  # kept, and revalidated by its ETag
}


class PageFiles(StaticFiles):
    """The page's scripts, styles and pictures, with headers that let nothing else run."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        """Return Starlette's response with our headers."""
        response = super().file_response(*args, **kwargs)
        response.headers.update(HEADERS)
        return response


class PageConfig(WireModel):
    """What the page may offer to its reader."""

    examples: list[str] = Field(description="questions the sample documents answer; none for other documents")
    collection: str | None = Field(description="that is searched; null: none yet")
    collections: list[str] = Field(description="that may be chosen")
    may_upload: bool
    max_upload_bytes: int
    suffixes: list[str]


def page_routes(collections: Collections, keys: ApiKeys) -> APIRouter:
    """Return ``/``, ``/api/v1/page``, ``/api/v1/files`` and ``/api/v1/pictures``; ``PageFiles`` serves ``/page``."""
    router = APIRouter(tags=["page"])
    pictures = PagePictures()
    questions: list[str] = orjson.loads((SAMPLE_FOLDER / "examples.json").read_bytes())
    first_chunks = [f"{path.name}#0" for path in sample_paths()]

    @router.head("/", response_model=None, include_in_schema=False)
    @router.get("/", include_in_schema=False)
    async def page() -> Response:
        """Return the page itself."""
        return FileResponse(FOLDER / "index.html", headers=HEADERS)

    @router.get("/api/v1/page")
    async def page_config(request: Request, collection: CollectionName = None) -> PageConfig:
        """Return example questions, if the sample documents are stored, and whether the caller may upload."""
        name, stored = None, []
        try:
            async with collections.use(collection) as opened:
                name, stored = opened.name, await opened.store.aget_by_ids(first_chunks)
        except UnknownCollection:
            if collection is not None:  # else the key's own is not made yet
                raise
        return PageConfig(
            collection=name,
            collections=await collections.names(),
            examples=questions if len(stored) == len(first_chunks) else [],
            may_upload=may_write(request, keys),
            max_upload_bytes=MAX_UPLOAD,
            suffixes=sorted(LOADERS),
        )

    @router.get("/api/v1/files/{documentId:path}", response_class=FileResponse, responses={200: {"content": {PDF: {}}}})
    async def file(document_id: DocumentId, collection: CollectionName = None) -> Response:
        """Return the PDF that a stored document was ingested from, as the file is now."""
        async with collections.use(collection) as opened:
            path = await find_pdf(opened, document_id)
        if path is None:
            raise HTTPException(404, "There is no PDF of this document that can be read.")
        # No "sandbox" in the policy: browsers refuse to open their PDF viewer in one.
        return FileResponse(path, headers=HEADERS, media_type=PDF)

    @router.get("/api/v1/pictures/{chunkId:path}", response_class=Response, responses={200: {"content": {PNG: {}}}})
    async def picture(
        chunk_id: PdfChunkId, start: Start = None, end: End = None, collection: CollectionName = None
    ) -> Response:
        """Return the PDF page on which `start:end` of a chunk's text is printed, marked; without both, all of it.

        The header `X-Page` has its 1-based number, `X-Marks` the number of marks: 0 where the text was not found there.
        """
        async with collections.use(collection) as opened:
            stored = await opened.store.aget_by_ids([chunk_id])
            chunk = chunk_of(stored[0]) if stored else None
            path = await find_pdf(opened, chunk.document_id) if chunk and chunk.page else None
        drawn = None
        if chunk and chunk.page and path:
            drawn = await pictures.draw(path, chunk.page, chunk.text[start:end])
        if drawn is None:
            raise HTTPException(404, "There is no page of a PDF for this chunk that can be drawn.")
        numbers = {"X-Page": str(drawn.page), "X-Marks": str(drawn.marks)}
        return Response(drawn.png, headers=HEADERS | numbers, media_type=PNG)

    return router


async def find_pdf(opened: OpenCollection, document_id: str) -> Path | None:
    """Return the PDF that a stored document was ingested from; None without one that can be read."""
    original = await find_original(opened, document_id)
    return original[1].path if original and original[1].path.suffix.lower() == ".pdf" else None
