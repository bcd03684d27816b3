"""What travels through ingest: plain, frozen data that reads and writes as JSON.

``Block → LoadedDocument`` is what a loader reads, ``TextChunk → SplitDocument`` what the splitter makes of it.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Literal, Self

import orjson
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    NonNegativeInt,
    PositiveInt,
    field_validator,
    model_validator,
)

MAX_ID_CHARS = 1_000
MAX_TITLE_CHARS = 300
MAX_LABEL_CHARS = 500
MAX_URL_CHARS = 2_000
MAX_CHUNK_CHARS = 100_000
"""Longest text of a row that is one chunk; what is split here is far shorter."""

DocumentId = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS)]
ChunkId = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS + 20)]
Label = Annotated[str, Field(max_length=MAX_LABEL_CHARS)]
Url = Annotated[str, Field(max_length=MAX_URL_CHARS)]

Kind = Literal["prose", "list", "table", "code"]
"""How a block may be broken when it is too long: at sentences, at items, at rows (header repeated), at lines."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Block(_Data):
    """One paragraph, list, table or piece of code, as readable text, and where in the document it stands.

    A table is one ``| a | b |`` line per row, the header first; code stands in its fence. ``page`` is 1-based. With
    ``chunk_id`` the block is one chunk and stays whole, to the letter.
    """

    text: str
    kind: Kind = "prose"
    chapter: Label | None = None
    section: Label | None = None
    page: PositiveInt | None = None
    chunk_id: ChunkId | None = None


class Described(_Data):
    """What is known of a document, however it is cut up.

    ``source`` names the document to people: its path below the ingested root, with ``/``; for a row of JSON Lines its
    document id. ``metadata`` joins the metadata of every chunk.
    """

    document_id: DocumentId
    title: str = Field("", max_length=MAX_TITLE_CHARS)
    source: DocumentId
    url: Url | None = None
    metadata: dict[str, JsonValue] = Field(default_factory=dict)

    @field_validator("metadata")
    @classmethod
    def _can_be_stored(cls, metadata: dict[str, JsonValue]) -> dict[str, JsonValue]:
        try:
            same = orjson.loads(orjson.dumps(metadata)) == metadata  # NaN comes back as null
        except (TypeError, ValueError):
            same = False
        if not same:
            raise ValueError(
                "must be plain JSON: Unicode text, finite numbers of at most 64 bits, not nested too deeply"
            )
        return metadata


class LoadedDocument(Described):
    """A document as read: its blocks in reading order."""

    blocks: tuple[Block, ...]


class TextChunk(_Data):
    """One chunk before it is embedded.

    ``chunk_index`` is its place in the document, from 0; ``spans`` are its sentences, (start, end) in Unicode code
    points of ``text``, ordered and disjoint.
    """

    chunk_id: ChunkId
    chunk_index: NonNegativeInt
    text: str = Field(max_length=MAX_CHUNK_CHARS)
    spans: tuple[tuple[NonNegativeInt, NonNegativeInt], ...]
    chapter: Label | None = None
    section: Label | None = None
    page: PositiveInt | None = None

    @model_validator(mode="after")
    def _spans_fit(self) -> Self:
        inside = all(start < end <= len(self.text) for start, end in self.spans)
        if not inside or any(left[1] > right[0] for left, right in pairwise(self.spans)):
            raise ValueError("spans must be inside the text, ordered and disjoint")
        return self


class SplitDocument(Described):
    """A document as it will be stored: its chunks in reading order, their ids distinct."""

    chunks: tuple[TextChunk, ...]


class Part(_Data):
    """Some chunks of a document on their way into a collection; a document travels in one part or in several.

    The chunk with index 0 travels in the last part. ``content_hash`` is the document's; ``total`` is the number of
    chunks of the whole document.
    """

    document: Described
    chunks: tuple[TextChunk, ...]
    content_hash: str = Field(min_length=1, max_length=64)
    last: bool
    total: PositiveInt


class SkippedFile(_Data):
    """A file, or a part of one, that was left out, and why, in words that may be shown.

    ``path`` is the name below the ingested root. ``rows_lost`` says that the file may hold documents whose ids are
    unknown because of it, so that nothing can be said to be gone.
    """

    path: str
    reason: str
    rows_lost: bool = False


class IngestReport(_Data):
    """What one ingest did.

    Counts are of documents, but for ``chunks``: those written. ``seconds`` is wall time. ``note`` says, if anything,
    why what was asked for was not all done.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: tuple[SkippedFile, ...] = ()
    chunks: int = 0
    seconds: float = 0.0
    note: str = ""
