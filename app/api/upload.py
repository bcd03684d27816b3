"""Documents from the browser: the bytes go to a temporary file under their own name, and the ordinary ingest reads it.

So an uploaded file gets the ids, the chunks and the refusals that ``garden ingest FILE`` gives it, and what opens it is
the same separate process.
"""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sized
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from app.api.errors import JSON, error_response
from app.api.query_schemas import ErrorBody
from app.api.upload_rules import PATH, check_name, may_upload
from app.ingest.documents import IngestReport
from app.ingest.pipeline import ingest_into
from app.ingest.sink import Sink
from graph.errors import InvalidInput

MEDIA_TYPE = "application/octet-stream"
"""The one content type taken. No form and no plain link can send it, so no other site's page can upload here."""

ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorBody, "description": "`VALIDATION_ERROR`: the name, or nothing in the file can be read"},
    401: {"model": ErrorBody, "description": "`UNAUTHORIZED`: a key is needed"},
    403: {"model": ErrorBody, "description": "`FORBIDDEN`: without `API_KEYS`, only this machine may upload"},
    413: {"model": ErrorBody, "description": "`PAYLOAD_TOO_LARGE`: the file is past 32 MiB"},
    503: {"model": ErrorBody, "description": "`RETRIEVAL_FAILED`: the store or the embedding did not work"},
}
BODY = {"requestBody": {"required": True, "content": {MEDIA_TYPE: {"schema": {"type": "string", "format": "binary"}}}}}


def upload_routes(sink: Sink, keys: Sized) -> APIRouter:
    """``POST /api/v1/documents``, one at a time; the keys were asked for before."""
    router = APIRouter(tags=["ingest"])
    writing = asyncio.Lock()

    @router.post(PATH, response_model=IngestReport, responses=ERRORS, openapi_extra=BODY)
    async def upload(
        request: Request,
        name: Annotated[str, Query(description="the file's name, without folders", examples=["handbook.pdf"])],
    ) -> Response:
        """Plant one document: Markdown, text, reStructuredText, HTML, PDF or JSON Lines."""
        if not may_upload(request, keys):
            return error_response(403, "Documents are taken from this machine only, unless API_KEYS is set.")
        check_name(name)
        if request.headers.get("content-type", "").split(";")[0].strip().lower() != MEDIA_TYPE:
            raise InvalidInput(f"Content-Type must be {MEDIA_TYPE}.", "Content-Type")
        content = await request.body()
        if not content:
            raise InvalidInput("The file is empty.", "body")
        async with writing:
            report = await _plant(sink, name, content)
        if report.skipped and not report.added + report.changed + report.unchanged:
            raise InvalidInput(f"{name} was not planted: {report.skipped[0].reason}.", "body")
        return JSON(report.model_dump(mode="json"))

    return router


async def _plant(sink: Sink, name: str, content: bytes) -> IngestReport:
    folder = await asyncio.to_thread(tempfile.TemporaryDirectory, prefix="garden-upload-")
    try:
        path = Path(folder.name, name)
        await asyncio.to_thread(path.write_bytes, content)
        return await ingest_into(sink, [path])
    finally:
        await asyncio.to_thread(folder.cleanup)
