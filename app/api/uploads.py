"""Ingest over HTTP: one document at a time, sent as a file or read again from where it was found."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any

import anyio
import orjson
from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.responses import Response, StreamingResponse

from app.api.collections import CollectionName
from app.api.documents import PATH, DocumentId, find_original
from app.api.errors import failure_body, require_media_type
from app.api.middleware import ApiKeys, require_writer
from app.api.upload_folder import upload_folder
from app.bootstrap.collections import Collections, OpenCollection
from app.ingest.collection_writer import CollectionWriter
from app.ingest.documents import MAX_ID_CHARS, IngestReport, Progress, nfc
from app.ingest.find import FoundFile
from app.ingest.loaders.table import FORMATS, LOADERS
from app.ingest.manifest import IngestManifest, is_folder_and_file, keep_upload, uploads_of
from app.ingest.pipeline import OnProgress, ingest_items
from graph.errors import InvalidInput, RAGError
from graph.state import failure_of

MAX_UPLOAD = 32 * 1024 * 1024
"""Largest file in bytes; it is held in memory while it arrives."""
MAX_NAME_BYTES = 200  # of a file name in UTF-8; file systems allow 255

MEDIA_TYPE = "application/octet-stream"
"""The one content type taken. No form and no plain link can send it, so no other site's page can ingest here."""
PROGRESS_TYPE = "application/x-ndjson"
"""The ``Accept`` of a caller who wants a line per progress, ``{"chunks","chunksFound"}``, before the report."""
SUFFIXES = ", ".join(sorted(LOADERS))
UPLOAD: dict[str, Any] = {
    "requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}}
}
NO_BODY: dict[str, Any] = {"requestBody": {"content": {MEDIA_TYPE: {"schema": {"type": "string", "maxLength": 0}}}}}
MAX_COPIES = 100
"""Most files of one name that are kept beside each other."""
Name = Annotated[
    str,
    Query(
        description=f"file name, or a path with `/`, which becomes the document's id; it ends in one of {SUFFIXES}",
        examples=["handbook.md"],
    ),
]
Replace = Annotated[bool, Query(description="false: keep a stored document of this name, and store this one beside it")]
Work = Callable[[OnProgress | None], Awaitable[IngestReport]]


def ingest_routes(collections: Collections, keys: ApiKeys) -> APIRouter:
    """Return the two routes that ingest."""
    router = APIRouter(tags=["documents"])
    writing = asyncio.Lock()  # from the choice of a name on: a document of that name must not come in between

    async def ingest(
        writer: CollectionWriter,
        root: Path,
        file: FoundFile,
        on_progress: OnProgress | None,
        manifest: IngestManifest | None = None,
    ) -> IngestReport:
        report = await ingest_items(writer, [(root, file)], 1, manifest=manifest, on_progress=on_progress)
        if report.skipped and not report.added + report.changed + report.unchanged:
            raise InvalidInput(f"{file.source} was not ingested: {report.skipped[0].reason}.", "body")
        return report

    @router.post(PATH, response_model=IngestReport, openapi_extra=UPLOAD)
    async def upload(
        request: Request, name: Name, replace: Replace = True, collection: CollectionName = None
    ) -> Response | IngestReport:
        """Ingest one document, in any format that `garden ingest` reads; one at a time. A new collection is made.

        The report's `note` says where a document of the same id was replaced, or under which name both are kept.
        """
        require_writer(request, keys)
        name = nfc(name)
        check_name(name)
        require_media_type(request, MEDIA_TYPE)
        chosen = await collections.resolve(collection, create=True)
        content = await request.body()
        if not content:
            raise InvalidInput("The file is empty.", "body")

        async def work(on_progress: OnProgress | None) -> IngestReport:
            async with writing, collections.use(chosen, create=True) as to:
                with upload_folder() as folder:
                    path, uploads = folder / Path(name).name, uploads_of(to.folder)
                    await asyncio.to_thread(path.write_bytes, content)
                    if path.suffix.lower() not in FORMATS:  # its rows are documents, which are deleted one by one
                        return await ingest(to.writer, path, FoundFile(path, name), on_progress)
                    source = name if replace else await _free_name(to, name, content)
                    if await asyncio.to_thread(is_folder_and_file, to.folder, source):
                        raise InvalidInput("The name is a folder of other uploads, or has one as folder.", "name")
                    manifest = IngestManifest(to.folder, [uploads], restore=True)
                    report = await ingest(to.writer, uploads, FoundFile(path, source), on_progress, manifest)
                    await asyncio.to_thread(keep_upload, to.folder, source, content)
                    return _with_upload_note(report, name, source)

        return await _response(request, work)

    @router.post(PATH + "/{documentId:path}", response_model=IngestReport, openapi_extra=NO_BODY)
    async def ingest_again(
        request: Request, document_id: DocumentId, collection: CollectionName = None
    ) -> Response | IngestReport:
        """Ingest the file of a stored document again, as `garden ingest` does; only a file that it has ingested."""
        require_writer(request, keys)
        require_media_type(request, MEDIA_TYPE)
        async with collections.use(collection) as found:
            original = await find_original(found, document_id)
        if original is None:
            raise HTTPException(404, "There is no file of this document that can be read again.")

        async def work(on_progress: OnProgress | None) -> IngestReport:
            async with writing, collections.use(collection) as to:
                manifest = IngestManifest(to.folder, [original[0]])
                return await ingest(to.writer, *original, on_progress, manifest)

        return await _response(request, work)

    return router


def check_name(name: str) -> None:
    """Raise ``InvalidInput`` unless *name* is a file name or a relative path with a known suffix."""
    parts = name.split("/")
    is_relative = all(part.strip() and not part.startswith(".") for part in parts)
    unread = "\ufffd" in name  # stands for bytes that are no UTF-8
    if not is_relative or "\\" in name or unread or not name.isprintable():
        raise InvalidInput("The name must be a plain file name, or a path of folders below each other.", "name")
    if max(len(part.encode("utf-8", "replace")) for part in parts) > MAX_NAME_BYTES or len(name) > MAX_ID_CHARS // 2:
        raise InvalidInput(f"The name must be at most {MAX_NAME_BYTES} bytes long.", "name")
    if Path(name).suffix.lower() not in LOADERS:
        raise InvalidInput(f"The name must end in one of {SUFFIXES}.", "name")


async def _free_name(to: OpenCollection, name: str, content: bytes) -> str:
    """Return *name*, or with a number one that no other file has. Raises ``InvalidInput`` when all are taken."""
    path, uploads = Path(name), uploads_of(to.folder)
    for number in range(1, MAX_COPIES + 1):
        free = name if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}").as_posix()
        if not await to.store.achunk_hashes(free):
            return free
        if await asyncio.to_thread(_is_same, uploads / free, content):
            return free
    raise InvalidInput(f"There are {MAX_COPIES} documents of this name.", "name")


def _is_same(path: Path, content: bytes) -> bool:
    return path.is_file() and path.read_bytes() == content


def _with_upload_note(report: IngestReport, name: str, source: str) -> IngestReport:
    """Say in the report's note what became of another document of the same name."""
    if source != name:
        note = f"Stored as {source}, since another document is named {name}."
    elif report.changed and not report.note:
        note = f"Replaced: the document {name} that was stored before. To keep both, upload with replace=false."
    else:
        return report
    return report.model_copy(update={"note": " ".join(filter(None, (report.note, note)))})


async def _response(request: Request, work: Work) -> Response | IngestReport:
    if PROGRESS_TYPE in request.headers.get("accept", ""):
        return StreamingResponse(_lines(work), media_type=PROGRESS_TYPE)
    return await work(None)


async def _lines(work: Work) -> AsyncGenerator[bytes]:
    """Yield each progress, then the report or error body; the work finishes even after a disconnect."""
    progress: asyncio.Queue[Progress | None] = asyncio.Queue()
    working = asyncio.ensure_future(work(progress.put_nowait))
    working.add_done_callback(lambda _: progress.put_nowait(None))
    try:
        while done := await progress.get():
            yield orjson.dumps({"chunks": done.chunks, "chunksFound": done.chunks_found}) + b"\n"
        yield working.result().model_dump_json().encode()
    except RAGError as error:
        yield orjson.dumps(failure_body(failure_of(error)))
    finally:
        with anyio.CancelScope(shield=True):
            await asyncio.wait([working])
