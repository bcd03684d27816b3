"""Take documents from the browser and ingest them as ``garden ingest FILE`` does.

The bytes go to a temporary file under their own name, which the ordinary ingest reads in its separate process.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sized
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from app.api.errors import JSON, error_response
from app.api.middleware import is_loopback
from app.ingest.documents import IngestReport
from app.ingest.loaders.table import LOADERS
from app.ingest.pipeline import ingest_into
from app.ingest.sink import Sink
from graph.errors import InvalidInput

PATH = "/api/v1/documents"
MAX_UPLOAD = 32 * 1024 * 1024
"""Largest file in bytes; it is held in memory while it arrives."""

MAX_NAME_BYTES = 200
"""Longest file name in UTF-8; file systems allow 255."""

MEDIA_TYPE = "application/octet-stream"
"""The one content type taken. No form and no plain link can send it, so no other site's page can upload here."""

NAME = f"the file's name, without folders; it ends in one of {', '.join(sorted(LOADERS))}"
BODY = {"requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}}}


def upload_routes(sink: Sink, keys: Sized) -> APIRouter:
    """Return ``POST /api/v1/documents``, one document at a time; *keys* were checked before."""
    router = APIRouter(tags=["ingest"])
    writing = asyncio.Lock()

    @router.post(PATH, response_model=IngestReport, openapi_extra=BODY)
    async def upload(
        request: Request,
        name: Annotated[str, Query(description=NAME, examples=["handbook.md"])],
    ) -> Response:
        """Ingest one document in any format that `garden ingest` reads."""
        if not may_upload(request, keys):
            return error_response(403, "Documents are taken from this machine only, unless API_KEYS is set.")
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
        return JSON(report.model_dump(mode="json"))

    return router


def may_upload(request: Request, keys: Sized) -> bool:
    """Tell whether this request may add and delete documents.

    With keys, the middleware has checked one. Without, the caller must be on this machine and address it by one of its
    own names, so that a foreign name that resolves to loopback does not do.
    """
    host = urlsplit(f"//{request.headers.get('host', '')}").hostname
    return bool(keys) or (is_loopback(request.client.host if request.client else None) and is_loopback(host))


def check_name(name: str) -> None:
    """Raise ``InvalidInput`` unless *name* is a plain file name with a known suffix."""
    if not name.strip() or name.startswith(".") or any(sign in name for sign in "/\\") or not name.isprintable():
        raise InvalidInput("The name must be a plain file name, without folders.", "name")
    if len(name.encode("utf-8", "replace")) > MAX_NAME_BYTES:
        raise InvalidInput(f"The name must be at most {MAX_NAME_BYTES} bytes long.", "name")
    if Path(name).suffix.lower() not in LOADERS:
        raise InvalidInput(f"The name must end in one of {', '.join(sorted(LOADERS))}.", "name")


async def _ingest(sink: Sink, name: str, content: bytes) -> IngestReport:
    folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="garden-upload-")
    try:
        path = Path(folder.name, name)
        await asyncio.to_thread(path.write_bytes, content)
        return await ingest_into(sink, [path])
    finally:
        await asyncio.to_thread(folder.cleanup)
