"""Cut documents into parts, and gather parts into batches that are embedded and stored together."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from app.ingest.documents import DocumentInfo, SplitDocument, TextChunk

BATCH_CHUNKS = 64
"""Chunks embedded together; with their sentences a few hundred texts."""

BATCH_CHARS = 100_000
"""Characters at which a batch is full even with fewer chunks."""


LAYOUT = "2"
"""Part of every hash: raise it when chunks or points are made differently, and the next ingest stores all again."""


def content_hash(document: SplitDocument, model_name: str) -> str:
    """Hash what is stored of a document: texts, positions, metadata, layout and model, as 64 hex digits."""
    return hashlib.sha256(f"{LAYOUT}\n{model_name}\n{document.model_dump_json()}".encode()).hexdigest()


def part_hash(document_hash: str) -> str:
    """Return what chunks carry in place of their document's hash.

    Only the first chunk of a complete document carries the hash itself, so a truncated document never looks complete,
    and chunks of an older version are recognised.
    """
    return f"part of {document_hash}"


@dataclass(frozen=True, slots=True)
class Part:
    """Some chunks of a document, which is stored in one part or in several; its first chunk is in the last one.

    ``content_hash`` is the document's; ``total`` is the number of chunks of the whole document.
    """

    document: DocumentInfo
    chunks: tuple[TextChunk, ...]
    content_hash: str
    last: bool
    total: int


def parts_of(document: SplitDocument, content_hash: str) -> Iterator[Part]:
    """Cut a document into parts of at most a batch."""
    info = DocumentInfo(**document.model_dump(exclude={"chunks"}))
    groups = list(_groups([*document.chunks[1:], document.chunks[0]]))
    for number, group in enumerate(groups, 1):
        yield Part(info, group, content_hash, last=number == len(groups), total=len(document.chunks))


def _groups(chunks: Sequence[TextChunk]) -> Iterator[tuple[TextChunk, ...]]:
    """Yield runs of chunks that fill a batch."""
    start = size = 0
    for at, chunk in enumerate(chunks):
        if at > start and (at - start == BATCH_CHUNKS or size + len(chunk.text) > BATCH_CHARS):
            yield tuple(chunks[start:at])
            start, size = at, 0
        size += len(chunk.text)
    yield tuple(chunks[start:])


def batches(parts: Iterable[Part]) -> Iterator[list[Part]]:
    """Gather parts, of one document or of many, until a batch is full."""
    held: list[Part] = []
    chunks = size = 0
    for part in parts:
        held.append(part)
        chunks += len(part.chunks)
        size += sum(len(chunk.text) for chunk in part.chunks)
        if chunks >= BATCH_CHUNKS or size >= BATCH_CHARS:
            yield held
            held, chunks, size = [], 0, 0
    if held:
        yield held
