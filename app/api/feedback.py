"""Keep what readers say of answers in ``DATA_DIR/feedback.jsonl``, a question file of ``garden eval``."""

import asyncio
import json
import os
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, HTTPException
from pydantic import Field, StrictStr

from app.api.collections import DEFAULT_COLLECTION
from app.api.schemas import WireModel
from app.bootstrap.collections import Collections
from app.ingest.documents import MAX_ID_CHARS
from app.ops.traffic import current_request_id
from app.settings import Settings
from graph.errors import Outcome
from graph.nodes.search import query_text
from graph.policy import MAX_SOURCES

FILE = "feedback.jsonl"
MAX_FILE_BYTES = 64 * 1024 * 1024


class Feedback(WireModel):
    """How a reader rates the end of one question."""

    question: StrictStr = Field(examples=["What is Knowledge Garden?"])
    outcome: Outcome = Field(examples=["answered"])
    rating: Literal["up", "down"] = Field(examples=["up"])
    cited_documents: list[Annotated[StrictStr, Field(min_length=1, max_length=MAX_ID_CHARS)]] = Field(
        default=[], max_length=MAX_SOURCES, description="ids", examples=[["what-is-knowledge-garden.md"]]
    )
    collection: StrictStr | None = Field(None, examples=[DEFAULT_COLLECTION])
    request_id: Annotated[StrictStr, Field(min_length=1, max_length=128)] | None = Field(None, examples=["req_1"])


class StoredFeedback(WireModel):
    """The feedback is stored under this id."""

    id: str


def feedback_routes(collections: Collections, settings: Settings) -> APIRouter:
    """Return ``POST /api/v1/feedback``, which appends one line to the file in ``DATA_DIR``."""
    router = APIRouter(prefix="/api/v1", tags=["feedback"])

    @router.post("/feedback")
    async def feedback(body: Feedback) -> StoredFeedback:
        """Keep one rating, with the question, the outcome and the ids of the documents cited."""
        answered, liked = body.outcome == "answered", body.rating == "up"
        row: dict[str, Any] = {
            "id": body.request_id or current_request_id(),
            "question": query_text(body.question, settings.max_query_chars, "question"),
            "answerable": answered == liked,  # "up" says that the outcome was right, "down" that it was wrong
            "expected_sources": body.cited_documents if answered and liked else [],
            "rating": body.rating,
            "outcome": body.outcome,
            "cited_documents": body.cited_documents,
            "collection": await collections.resolve(body.collection),
        }
        line = json.dumps(row).encode() + b"\n"  # ASCII: the reader takes U+2028 for the end of a line
        if not await asyncio.to_thread(_append, settings.data_dir / FILE, line):
            raise HTTPException(413, f"{FILE} holds {MAX_FILE_BYTES} bytes: move it away to take more.")
        return StoredFeedback(id=row["id"])

    return router


def _append(path: Path, line: bytes) -> bool:
    """Append *line* in one write, atomic between workers; False where the file is full."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600), "ab", buffering=0) as file:
        fits = os.fstat(file.fileno()).st_size + len(line) <= MAX_FILE_BYTES
        return fits and file.write(line) > 0
