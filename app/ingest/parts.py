"""Hash documents, and list their chunks in the order in which they are stored."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from app.ingest.documents import SplitDocument, TextChunk

LAYOUT = "2"
"""Part of every hash: raise it when chunks or points are made differently, and the next ingest stores all again."""


class PendingChunk(NamedTuple):
    """A chunk to be stored, with its document and the document's hash."""

    document: SplitDocument
    chunk: TextChunk
    content_hash: str

    @property
    def completes(self) -> bool:
        """Whether it is the chunk that carries the hash of its document."""
        return self.chunk.chunk_index == 0


def content_hash(document: SplitDocument, model_name: str) -> str:
    """Hash what is stored of a document: texts, positions, metadata, layout and model, as 64 hex digits."""
    return hashlib.sha256(f"{LAYOUT}\n{model_name}\n{document.model_dump_json()}".encode()).hexdigest()


def part_hash(document_hash: str) -> str:
    """Return what chunks carry in place of their document's hash.

    Only the first chunk of a complete document carries the hash itself, so a truncated document never looks complete,
    and chunks of an older version are recognised.
    """
    return f"part of {document_hash}"


def pending_chunks(document: SplitDocument, document_hash: str) -> Iterator[PendingChunk]:
    """Yield the chunks of a document; the first one, which completes it, comes last."""
    for chunk in (*document.chunks[1:], document.chunks[0]):
        yield PendingChunk(document, chunk, document_hash)
