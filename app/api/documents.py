"""Add, list, show, re-ingest and delete stored documents; show one chunk."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sized
from pathlib import Path
from typing import Annotated, Any

import anyio
import fastapi
import orjson
from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse
from langchain_core.documents import Document
from pydantic import AfterValidator

from answering.types import Chunk
from app.api.errors import error_response, failure_body, require_media_type
from app.api.middleware import require_writer
from app.api.schemas import DeletedDocument, DocumentList, DocumentText, StoredChunk, StoredDocument
from app.ingest.documents import MAX_ID_CHARS, IngestReport, nfc
from app.ingest.find import FoundFile
from app.ingest.loaders.table import FORMATS, LOADERS
from app.ingest.manifest import IngestManifest, find_originals, forget_upload, keep_upload, note_deleted, uploads_of
from app.ingest.pipeline import OnProgress, Progress, ingest_items
from app.ingest.sink import Sink
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.payloads import chunk_from_payload
from graph.errors import InvalidInput, RAGError
from graph.state import failure_of

PATH = "/api/v1/documents"
MAX_UPLOAD = 32 * 1024 * 1024
"""Largest file in bytes; it is held in memory while it arrives."""
MAX_NAME_BYTES = 200  # of a file name in UTF-8; file systems allow 255
MAX_ROWS = 1_000
"""Most documents of a list, and most chunks of a document, in one response."""
BATCH = 500  # chunks of one call to the store

MEDIA_TYPE = "application/octet-stream"
"""The one content type taken. No form and no plain link can send it, so no other site's page can ingest here."""
PROGRESS_TYPE = "application/x-ndjson"
"""The ``Accept`` of a caller who wants a line per progress, ``{"chunks","chunksFound"}``, before the report."""
SUFFIXES = ", ".join(sorted(LOADERS))
UPLOAD: dict[str, Any] = {
    "requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}}
}
NO_BODY: dict[str, Any] = {"requestBody": {"content": {MEDIA_TYPE: {"schema": {"type": "string", "maxLength": 0}}}}}
Work = Callable[[OnProgress | None], Awaitable[IngestReport]]


STAYS_DELETED = "garden ingest leaves it out from now on, until it is run with --restore."


MAX_COPIES = 100
"""Most files of one name that are kept beside each other."""


def _id(alias: str, longest: int, example: str) -> Any:
    return fastapi.Path(
        alias=alias, min_length=1, max_length=longest, description="percent-encoded", examples=[example]
    )


DocumentId = Annotated[str, AfterValidator(nfc), _id("documentId", MAX_ID_CHARS, "safety_manual.pdf")]
ChunkId = Annotated[str, _id("chunkId", MAX_ID_CHARS + 20, "what-is-knowledge-garden.md#0")]
Name = Annotated[
    str,
    Query(
        description=f"file name, or a path with `/`, which becomes the document's id; it ends in one of {SUFFIXES}",
        examples=["handbook.md"],
    ),
]
Replace = Annotated[bool, Query(description="false: keep a stored document of this name, and store this one beside it")]
Offset = Annotated[int, Query(ge=0, description="how many to skip", examples=[0])]
Limit = Annotated[int, Query(ge=1, le=MAX_ROWS, description="most to return", examples=[100])]


def ingest_routes(store: ChunkStore, sink: Sink, keys: Sized, collection: Path) -> APIRouter:
    """Return the two routes that ingest; *collection* is the manifest's folder, *keys* are the API keys."""
    router = APIRouter(tags=["documents"])
    writing = asyncio.Lock()

    async def ingest(
        root: Path, file: FoundFile, on_progress: OnProgress | None, manifest: IngestManifest | None = None
    ) -> IngestReport:
        async with writing:
            report = await ingest_items(sink, [(root, file)], 1, manifest=manifest, on_progress=on_progress)
        if report.skipped and not report.added + report.changed + report.unchanged:
            raise InvalidInput(f"{file.source} was not ingested: {report.skipped[0].reason}.", "body")
        return report

    @router.post(PATH, response_model=IngestReport, openapi_extra=UPLOAD)
    async def upload(request: Request, name: Name, replace: Replace = True) -> Response | IngestReport:
        """Ingest one document, in any format that `garden ingest` reads; one at a time.

        The report's `note` says where a document of the same id was replaced, or under which name both are kept.
        """
        require_writer(request, keys)
        name = nfc(name)
        check_name(name)
        require_media_type(request, MEDIA_TYPE)
        content = await request.body()
        if not content:
            raise InvalidInput("The file is empty.", "body")

        async def work(on_progress: OnProgress | None) -> IngestReport:
            async with anyio.TemporaryDirectory(prefix="garden-upload-") as folder:
                path, uploads = Path(folder, Path(name).name), uploads_of(collection)
                await asyncio.to_thread(path.write_bytes, content)
                if path.suffix.lower() not in FORMATS:  # its rows are documents, which are deleted one by one
                    return await ingest(path, FoundFile(path, name), on_progress)
                source = name if replace else await _free_name(store, collection, name, content)
                manifest = IngestManifest(collection, [uploads], restore=True)
                report = await ingest(uploads, FoundFile(path, source), on_progress, manifest)
                await asyncio.to_thread(keep_upload, collection, source, content)
                return _with_upload_note(report, name, source)

        return await _response(request, work)

    @router.post(PATH + "/{documentId:path}", response_model=IngestReport, openapi_extra=NO_BODY)
    async def ingest_again(request: Request, document_id: DocumentId) -> Response | IngestReport:
        """Ingest the file of a stored document again, as `garden ingest` does; only a file that it has ingested."""
        require_writer(request, keys)
        require_media_type(request, MEDIA_TYPE)
        original = await find_original(store, collection, document_id)
        if original is None:
            return error_response(404, "There is no file of this document that can be read again.")
        manifest = IngestManifest(collection, [original[0]])
        return await _response(request, lambda on_progress: ingest(*original, on_progress, manifest))

    return router


def document_routes(store: ChunkStore, keys: Sized, collection: Path) -> APIRouter:
    """Return the other document routes and that of a chunk; arguments as for ``ingest_routes``."""
    router = APIRouter(tags=["documents"])

    @router.get(PATH)
    async def documents(offset: Offset = 0, limit: Limit = MAX_ROWS) -> DocumentList:
        """Return the stored documents with their titles, numbers of chunks and times of ingest."""
        summaries = sorted((one, summary) for one, summary in (await store.asummaries()).items() if one)
        shown = dict(summaries[offset : offset + limit])
        hashes = {one: (summary.content_hash,) for one, summary in shown.items()}
        files = await asyncio.to_thread(find_originals, collection, hashes)
        rows = [StoredDocument(id=one, **summary._asdict(), has_file=one in files) for one, summary in shown.items()]
        return DocumentList(documents=rows, total=len(summaries))

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
        title, has_file = chunks[0].title or document_id, bool(await find_original(store, collection, document_id))
        fields: dict[str, Any] = {"id": document_id, "title": title, "total": len(chunks), "offset": offset}
        return DocumentText(**fields, has_file=has_file, chunks=shown)

    @router.delete(PATH + "/{documentId:path}", response_model=DeletedDocument)
    async def delete(request: Request, document_id: DocumentId) -> DeletedDocument | Response:
        """Delete one document, and the file if it was uploaded; other files stay, and are not ingested again unasked.

        Who may upload may delete.
        """
        require_writer(request, keys)
        deleted = await store.adelete_documents([document_id])
        if not deleted:
            return error_response(404, "No document has this id.")
        await asyncio.to_thread(forget_upload, collection, document_id)
        await asyncio.to_thread(note_deleted, collection, document_id)
        return DeletedDocument(id=document_id, chunks=deleted, note=STAYS_DELETED)

    @router.get("/api/v1/chunks/{chunkId:path}", response_model=StoredChunk, tags=["chunks"])
    async def chunk(chunk_id: ChunkId) -> StoredChunk | Response:
        """Return the text, title and position of a chunk that an evidence row names."""
        stored = await store.aget_by_ids([chunk_id])
        return StoredChunk.model_validate(_chunk(stored[0])) if stored else error_response(404, "No chunk has this id.")

    return router


def check_name(name: str) -> None:
    """Raise ``InvalidInput`` unless *name* is a file name or a relative path with a known suffix."""
    parts = name.split("/")
    plain = all(part.strip() and not part.startswith(".") for part in parts)
    if not plain or "\\" in name or not name.isprintable():
        raise InvalidInput("The name must be a plain file name, or a path of folders below each other.", "name")
    if max(len(part.encode("utf-8", "replace")) for part in parts) > MAX_NAME_BYTES or len(name) > MAX_ID_CHARS // 2:
        raise InvalidInput(f"The name must be at most {MAX_NAME_BYTES} bytes long.", "name")
    if Path(name).suffix.lower() not in LOADERS:
        raise InvalidInput(f"The name must end in one of {SUFFIXES}.", "name")


async def _free_name(store: ChunkStore, collection: Path, name: str, content: bytes) -> str:
    """Return *name*, or with a number one that no other file has. Raises ``InvalidInput`` when all are taken."""
    path, uploads = Path(name), uploads_of(collection)
    for number in range(1, MAX_COPIES + 1):
        free = name if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}").as_posix()
        if not await store.achunk_hashes(free):
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


async def find_original(store: ChunkStore, collection: Path, document_id: str) -> tuple[Path, FoundFile] | None:
    """Return the ingested path and the file of a stored document; None without a readable file."""
    hashes = (await store.achunk_hashes(document_id)).values()
    return (await asyncio.to_thread(find_originals, collection, {document_id: hashes})).get(document_id)


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


def _chunk(stored: Document) -> Chunk:
    return chunk_from_payload(str(stored.id), {"page_content": stored.page_content, "metadata": stored.metadata})
