"""The data of ingest, frozen and JSON-serializable.

A loader reads ``Block`` → ``LoadedDocument``; the splitter makes ``TextChunk`` → ``SplitDocument`` of it.
"""

import unicodedata
from typing import Annotated, Literal, NamedTuple

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, NonNegativeInt, PositiveInt

MAX_ID_CHARS = 1_000
MAX_TITLE_CHARS = 300
MAX_LABEL_CHARS = 500
MAX_URL_CHARS = 2_000
MAX_CHUNK_CHARS = 100_000
"""Longest text of a JSON Lines row that is one chunk; chunks that are split here are far shorter."""


def nfc(text: str) -> str:
    """Return *text* in Unicode's composed form: one name is one id, whatever file system it comes from."""
    return unicodedata.normalize("NFC", text)


DocumentId = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS), AfterValidator(nfc)]
ChunkId = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARS + 20)]
Label = Annotated[str, Field(max_length=MAX_LABEL_CHARS)]
Url = Annotated[str, Field(max_length=MAX_URL_CHARS)]

Kind = Literal["prose", "list", "table", "code"]
"""Where a block is broken when it is too long: at sentences, at items, at rows (header repeated), at lines."""


class _Data(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Block(_Data):
    """One paragraph, list, table or code block as readable text, with its position.

    A table has a line ``| a | b |`` per row, code its fence. ``page`` is 1-based. One with ``chunk_id`` is fixed.
    ``recognised``: the text is a program's reading of a picture, and may hold its mistakes.
    """

    text: str
    kind: Kind = "prose"
    chapter: Label | None = None
    section: Label | None = None
    page: PositiveInt | None = None
    chunk_id: ChunkId | None = None
    recognised: bool = False


class DocumentInfo(_Data):
    """The metadata of one document.

    ``source`` names the document to people: its path below the ingested root, with ``/``; for a row of JSON Lines its
    document id. ``metadata`` joins the metadata of every chunk. ``notes`` say what of the file was left out and why;
    they are reported and not stored.
    """

    document_id: DocumentId
    title: str = Field("", max_length=MAX_TITLE_CHARS)
    source: DocumentId
    url: Url | None = None
    metadata: dict[str, JsonValue] = Field(default_factory=dict)
    notes: tuple[str, ...] = ()


class LoadedDocument(DocumentInfo):
    """A document as read: its blocks in reading order."""

    blocks: tuple[Block, ...]


class TextChunk(_Data):
    """One chunk before it is embedded.

    ``chunk_index`` counts from 0; ``spans`` are its sentences, ordered (start, end) in Unicode code points of ``text``.
    """

    chunk_id: ChunkId
    chunk_index: NonNegativeInt
    text: str = Field(max_length=MAX_CHUNK_CHARS)
    spans: tuple[tuple[NonNegativeInt, NonNegativeInt], ...]
    chapter: Label | None = None
    section: Label | None = None
    page: PositiveInt | None = None
    recognised: bool = False


class SplitDocument(DocumentInfo):
    """A document as it will be stored: its chunks in reading order, their ids distinct."""

    chunks: tuple[TextChunk, ...]


class SkippedFile(_Data):
    """A file, or a part of one, that was left out, and why.

    ``path`` is relative to the ingested root. ``rows_lost``: documents of unknown ids may be lost, so none is pruned.
    """

    path: str
    reason: str
    rows_lost: bool = False


class FileNote(_Data):
    """What was left out of a document that was read, and why; ``path`` as in ``SkippedFile``."""

    path: str
    note: str


class UnreadType(_Data):
    """Files of one type that no loader reads: how many, the first by name, and why; ``suffix`` may be empty."""

    suffix: str
    files: int
    example: str
    reason: str


class Progress(NamedTuple):
    """Progress of an ingest: files read of all, documents seen, chunks written of those to write."""

    files_read: int
    files: int
    documents: int
    chunks: int
    chunks_found: int


class IngestReport(_Data):
    """What one ingest did.

    Counts are of documents, ``chunks`` are those written. ``seconds`` is wall time, ``note`` says what was not done,
    ``notes`` what was left out of documents that were read. ``deleted`` counts those skipped since they were deleted by
    hand. ``unread`` are the files of other types in the folders.
    """

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    deleted: int = 0
    skipped: tuple[SkippedFile, ...] = ()
    notes: tuple[FileNote, ...] = ()
    unread: tuple[UnreadType, ...] = ()
    chunks: int = 0
    seconds: float = 0.0
    note: str = ""
