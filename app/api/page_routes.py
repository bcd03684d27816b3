"""The page for people at ``/``: static files, sent with headers that let nothing else run, and what it may offer."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sized
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import Response
from pydantic import BaseModel, Field

from app.api.errors import JSON, error_response
from app.api.upload_rules import MAX_UPLOAD, may_upload
from app.ingest.loaders.table import LOADERS
from app.ingest.samples import sample_paths

FOLDER = Path(__file__).with_name("page")
MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cache-Control": "no-cache",
}
"""``no-cache``: kept, but asked for anew each time, which the ETag makes a 304 until the file changes."""


class Offer(BaseModel):
    """What the page may offer to the one who asks."""

    examples: list[str] = Field(description="questions the sample garden answers; none for other documents")
    mayUpload: bool
    maxUploadBytes: int
    suffixes: list[str]


@dataclass(frozen=True, slots=True)
class PageFile:
    """One static file, ready to be sent."""

    content: bytes
    media_type: str
    etag: str


@dataclass(frozen=True, slots=True)
class SampleGarden:
    """Questions the sample garden answers, and by which chunks it is known: the first of each of its documents."""

    questions: list[str]
    first_chunks: list[str]


def page_routes(store: Any, samples: Path, keys: Sized) -> APIRouter:
    """``/``, the page's files under ``/page/``, and ``GET /api/v1/page``. The files are read now, once."""
    files, planted = page_files(), sample_garden(samples)
    router = APIRouter(tags=["page"])

    @router.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        """The page itself."""
        return _send(request, files["index.html"])

    @router.get("/page/{name}", include_in_schema=False)
    async def asset(request: Request, name: str) -> Response:
        """A style, script or picture of the page."""
        if name not in files:
            return error_response(404, "There is nothing at this address.")
        return _send(request, files[name])

    @router.get("/api/v1/page", response_model=Offer)
    async def offer(request: Request) -> Response:
        """Example questions, while the sample garden is planted, and whether documents are taken from this caller."""
        offered = Offer(
            examples=await examples(store, planted),
            mayUpload=may_upload(request, keys),
            maxUploadBytes=MAX_UPLOAD,
            suffixes=sorted(LOADERS),
        )
        return JSON(offered.model_dump())

    return router


def page_files() -> Mapping[str, PageFile]:
    """Every file of the page, by name."""
    made = {}
    for path in FOLDER.iterdir():
        if path.suffix in MEDIA_TYPES:
            content = path.read_bytes()
            etag = f'"{hashlib.sha256(content).hexdigest()[:32]}"'
            made[path.name] = PageFile(content, MEDIA_TYPES[path.suffix], etag)
    return made


async def examples(store: Any, planted: SampleGarden) -> list[str]:
    """The sample garden's questions, if the sample garden is what is planted: each of its documents is there."""
    found = await store.aget_by_ids(planted.first_chunks)
    return planted.questions if len(found) == len(planted.first_chunks) else []


def sample_garden(folder: Path) -> SampleGarden:
    """What is known of the sample garden without planting it."""
    questions: list[str] = orjson.loads((folder / "examples.json").read_bytes())
    return SampleGarden(questions, [f"{path.name}#0" for path in sample_paths(folder)])


def _send(request: Request, file: PageFile) -> Response:
    headers = {**HEADERS, "ETag": file.etag}
    known = [tag.strip().removeprefix("W/") for tag in request.headers.get("if-none-match", "").split(",")]
    if file.etag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    return Response(file.content, media_type=file.media_type, headers=headers)
