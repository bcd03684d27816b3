"""Make stable ids, and the hash that tells whether a document is stored as it is now.

The id of a document is its path below the ingested root, or what its row of JSON Lines says. The id of a chunk is
``document_id#n`` (n: its number in the document, from 0), or its row's ``chunk_id``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from app.ingest.documents import SplitDocument

LAYOUT = "2"
"""Part of every hash: raise it when chunks or points are made differently, and the next ingest stores all again."""


def chunk_ids(document_id: str, named: Iterable[str | None]) -> Iterator[str]:
    """Yield the id of each chunk, in order; ``named`` holds those the rows give, ``None`` where they give none."""
    for number, name in enumerate(named):
        yield name if name is not None else f"{document_id}#{number}"


def content_hash(document: SplitDocument, model_name: str) -> str:
    """Hash what is stored of a document: texts, positions, metadata, layout and model, as 64 hex digits."""
    digest = hashlib.sha256(f"{LAYOUT}\n{model_name}\n".encode())
    digest.update(document.model_dump_json().encode())
    return digest.hexdigest()


def part_hash(document_hash: str) -> str:
    """Return what chunks carry in place of their document's hash.

    Only the first chunk of a complete document carries the hash itself, so a truncated document never looks complete,
    and chunks of an older version are recognised.
    """
    return f"part of {document_hash}"
