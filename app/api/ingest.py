"""Ingest over HTTP: a document that is uploaded, or the file of a stored one again."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Sized
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

import anyio
import fastapi
import orjson
from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import Response, StreamingResponse

from app.api.errors import error_response, failure_body
from app.api.middleware import is_loopback
from app.ingest.documents import MAX_ID_CHARS, IngestReport
from app.ingest.find import FoundFile
from app.ingest.loaders.table import LOADERS
from app.ingest.manifest import IngestManifest, find_originals
from app.ingest.pipeline import Found, ingest_found
from app.ingest.run import OnProgress, Progress
from app.ingest.sink import Sink
from app.providers.stores.hybrid import ChunkStore
from graph.errors import InvalidInput, RAGError
from graph.steps import failure_of

PATH = "/api/v1/documents"
MAX_UPLOAD = 32 * 1024 * 1024
"""Largest file in bytes; it is held in memory while it arrives."""
MAX_NAME_BYTES = 200
"""Longest file name in UTF-8; file systems allow 255."""

MEDIA_TYPE = "application/octet-stream"
"""The one content type taken. No form and no plain link can send it, so no other site's page can ingest here."""
PROGRESS_TYPE = "application/x-ndjson"
"""The ``Accept`` of a caller who wants a line per progress, ``{"chunks","chunksFound"}``, before the report."""
SUFFIXES = ", ".join(sorted(LOADERS))
UPLOAD: dict[str, Any] = {
    "requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}}
}
REPORT: dict[int | str, dict[str, Any]] = {
    200: {"description": "With `Accept: application/x-ndjson` lines of progress come before it.", "model": IngestReport}
}
Work = Callable[[OnProgress | None], Awaitable[IngestReport]]


def path_id(alias: str, longest: int, example: str) -> Any:
    """Describe an id of at most *longest* characters in a path."""
    return fastapi.Path(
        alias=alias, min_length=1, max_length=longest, description="percent-encoded", examples=[example]
    )


DocumentId = Annotated[str, path_id("documentId", MAX_ID_CHARS, "handbook.md")]


def ingest_routes(store: ChunkStore, sink: Sink, keys: Sized, collection: Path) -> APIRouter:
    """Return the routes that ingest; *collection* is the folder with the manifest, *keys* were checked before."""
    router = APIRouter(tags=["documents"])
    writing = asyncio.Lock()

    async def ingest(root: Path, file: FoundFile, on_progress: OnProgress | None, **options: Any) -> IngestReport:
        async def found() -> AsyncGenerator[Found]:
            yield root, file

        async with writing:
            report = await ingest_found(sink, found(), 1, on_progress=on_progress, **options)
        if report.skipped and not report.added + report.changed + report.unchanged:
            raise InvalidInput(f"{file.source} was not ingested: {report.skipped[0].reason}.", "body")
        return report

    @router.post(PATH, response_model=None, responses=REPORT, openapi_extra=UPLOAD)
    async def upload(
        request: Request,
        name: Annotated[str, Query(description=f"file name; it ends in one of {SUFFIXES}", examples=["handbook.md"])],
    ) -> Response | IngestReport:
        """Ingest one document, in any format that `garden ingest` reads; one at a time."""
        require_writer(request, keys)
        check_name(name)
        require_media_type(request)
        content = await request.body()
        if not content:
            raise InvalidInput("The file is empty.", "body")

        async def work(on_progress: OnProgress | None) -> IngestReport:
            folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="garden-upload-")
            try:
                path = Path(folder.name, name)
                await asyncio.to_thread(path.write_bytes, content)
                return await ingest(path, FoundFile(path, name), on_progress)
            finally:
                await asyncio.to_thread(folder.cleanup)

        return await _response(request, work)

    @router.post(PATH + "/{documentId:path}", response_model=None, responses=REPORT)
    async def ingest_again(request: Request, document_id: DocumentId) -> Response | IngestReport:
        """Ingest the file of a stored document again, as `garden ingest` does; only a file that it has ingested."""
        require_writer(request, keys)
        require_media_type(request)
        original = await find_original(store, collection, document_id)
        if original is None:
            return error_response(404, "There is no file of this document that can be read again.")
        root, file = original
        manifest = IngestManifest(collection, [root])
        return await _response(request, lambda on_progress: ingest(root, file, on_progress, manifest=manifest))

    return router


async def find_original(store: ChunkStore, collection: Path, document_id: str) -> tuple[Path, FoundFile] | None:
    """Return the ingested path and the file of a stored document, if that can be read again."""
    hashes = (await store.achunk_hashes(document_id)).values()
    return (await asyncio.to_thread(find_originals, collection, {document_id: hashes})).get(document_id)


async def _response(request: Request, work: Work) -> Response | IngestReport:
    """Return the report, or the stream of lines that the caller accepts."""
    if PROGRESS_TYPE in request.headers.get("accept", ""):
        return StreamingResponse(_lines(work), media_type=PROGRESS_TYPE, headers={"X-Accel-Buffering": "no"})
    return await work(None)


async def _lines(work: Work) -> AsyncGenerator[bytes]:
    """Yield each progress, then the report or the error body. The work is finished also when the client leaves."""
    progress: asyncio.Queue[Progress | None] = asyncio.Queue()
    working = asyncio.ensure_future(work(progress.put_nowait))
    working.add_done_callback(lambda _: progress.put_nowait(None))
    try:
        while done := await progress.get():
            yield orjson.dumps({"chunks": done.chunks, "chunksFound": done.chunks_found}) + b"\n"
        yield working.result().model_dump_json().encode() + b"\n"
    except RAGError as error:
        yield orjson.dumps(failure_body(failure_of(error))) + b"\n"
    finally:
        with anyio.CancelScope(shield=True):
            await asyncio.wait([working])


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


def require_media_type(request: Request) -> None:
    """Raise ``InvalidInput`` unless the content type is the one that is taken."""
    if request.headers.get("content-type", "").split(";")[0].strip().lower() != MEDIA_TYPE:
        raise InvalidInput(f"Content-Type must be {MEDIA_TYPE}.", "Content-Type")


def check_name(name: str) -> None:
    """Raise ``InvalidInput`` unless *name* is a plain file name with a known suffix."""
    if not name.strip() or name.startswith(".") or any(sign in name for sign in "/\\") or not name.isprintable():
        raise InvalidInput("The name must be a plain file name, without folders.", "name")
    if len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES:
        raise InvalidInput(f"The name must be at most {MAX_NAME_BYTES} bytes long.", "name")
    if Path(name).suffix.lower() not in LOADERS:
        raise InvalidInput(f"The name must end in one of {SUFFIXES}.", "name")
