"""Write and read the file of ``garden export``: JSON Lines, compressed by gzip.

The first line is the ``Head``, without its counts. A line for each chunk follows::

    {"chunk_id", "text", "metadata", "sparse": {dimension: weight}, "dense": "…", "sentences": "…"}

``dense`` is float32 [d] and ``sentences`` float16 [n, d], little-endian in base64. ``"sparse": null``: the import
computes the BM25 weights. gzip ends with a CRC-32 and the length, so a file that is truncated or changed is recognised.
"""

import gzip
import zlib
from base64 import b64encode
from collections.abc import AsyncIterator, Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
import orjson
from pydantic import Base64Bytes, BaseModel, ConfigDict, Field

from app.providers.stores.layout import Point
from app.providers.stores.payloads import summaries
from graph.errors import InvalidInput

VERSION = 2
GROUP = 256
"""Chunks held in memory at once when a file is read."""
LEVEL = 1
"""gzip's fastest: vectors hardly shrink."""


class Head(BaseModel):
    """Describes the file; ``chunks`` and ``documents`` are counted when it is written or read."""

    model_config = ConfigDict(frozen=True, strict=True)

    format: Literal["knowledge-garden-collection"] = "knowledge-garden-collection"
    version: int = VERSION
    collection: str
    embedding_model: str
    dimension: int = Field(ge=1)
    chunks: int = 0
    documents: int = 0


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    chunk_id: str = Field(min_length=1)
    text: str
    metadata: dict[str, Any]
    sparse: dict[int, float] | None
    dense: Base64Bytes
    sentences: Base64Bytes


async def write_archive(
    path: Path, head: Head, pages: AsyncIterator[list[Point]], on_progress: Callable[[int], None] = lambda _: None
) -> Head:
    """Write every point to *path*, complete or not at all; return the head with counts.

    *on_progress* gets the number of chunks written. Equal points make equal bytes. Replaces a file. Raises ``OSError``.
    """
    draft = path.with_name(f"{path.name}.part")
    documents: set[str] = set()
    chunks = 0
    try:
        with draft.open("wb") as raw, gzip.GzipFile("", "wb", LEVEL, raw, mtime=0) as file:
            file.write(head.model_dump_json(exclude={"chunks", "documents"}).encode() + b"\n")
            async for points in pages:
                file.writelines(map(_line, points))
                chunks += len(points)
                documents.update(point.document_id for point in points)
                on_progress(chunks)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return head.model_copy(update={"chunks": chunks, "documents": len(documents)})


def _line(point: Point) -> bytes:
    row = {
        "chunk_id": point.chunk_id,
        "text": point.text,
        "metadata": point.metadata,
        "sparse": point.sparse,
        "dense": b64encode(point.dense.astype("<f4").tobytes()).decode(),
        "sentences": b64encode(point.sentences.astype("<f2").tobytes()).decode(),
    }
    return orjson.dumps(row, option=orjson.OPT_NON_STR_KEYS | orjson.OPT_APPEND_NEWLINE)


class Archive:
    """A complete file. ``documents`` is document id → ``content_hash`` of its first chunk."""

    def __init__(self, path: Path) -> None:
        """Read *path* through. Raises ``InvalidInput`` that says what is wrong with it."""
        self.path = path
        documents = summaries(point.metadata for points in self._read() for point in points)
        self.documents = {document: summary.content_hash for document, summary in documents.items()}

    async def apoints(self) -> AsyncIterator[list[Point]]:
        """Yield every point of the file, in groups; the file is checked again."""
        for points in self._read():
            yield points

    def _read(self) -> Iterator[list[Point]]:
        chunks = 0
        try:
            with gzip.open(self.path) as file:
                head = Head.model_validate_json(file.readline())
                if head.version != VERSION:
                    raise self._wrong(f"it is of version {head.version}, and this Knowledge Garden reads {VERSION}")
                while points := [_point(line, head.dimension) for line in islice(file, GROUP)]:
                    chunks += len(points)
                    yield points
        except (gzip.BadGzipFile, zlib.error, EOFError, ValueError) as error:
            raise self._wrong("it is truncated, was changed, or has another format") from error
        except OSError as error:
            raise InvalidInput(f"{self.path} cannot be read: {error.strerror or error}.", field="file") from error
        self.head = head.model_copy(update={"chunks": chunks})

    def _wrong(self, what: str) -> InvalidInput:
        return InvalidInput(f"{self.path} is not a complete export: {what}. Nothing was imported.", field="file")


def _point(line: bytes, dimension: int) -> Point:
    """Parse a line. Raises ``ValueError`` for vectors that are not finite or of another dimension."""
    row = _Row.model_validate_json(line)
    (dense,) = np.frombuffer(row.dense, "<f4").reshape(1, dimension)
    sentences = np.frombuffer(row.sentences, "<f2").astype(np.float32).reshape(-1, dimension)
    if not (np.isfinite(dense).all() and np.isfinite(sentences).all()):
        raise ValueError("a vector holds a number that is not finite")
    return Point(row.chunk_id, row.text, row.metadata, dense, sentences, row.sparse)
