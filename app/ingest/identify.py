"""Ids that stay the same from run to run, and the hash that says whether a document is stored as it is now.

The id of a document is its path below the ingested root, or what its row of JSON Lines says. The id of a chunk is
``document_id#n`` (n: its place in the document, from 0), or its row's ``chunk_id``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator

from app.ingest.documents import SplitDocument

LAYOUT = "2"
"""Goes into every hash: raise it when chunks or points are made differently, and the next ingest makes all anew."""


def chunk_ids(document_id: str, named: Iterable[str | None]) -> Iterator[str]:
    """Yield the id of each chunk, in order; ``named`` holds those the rows give, ``None`` where they give none."""
    for number, name in enumerate(named):
        yield name if name is not None else f"{document_id}#{number}"


def content_hash(document: SplitDocument, model_name: str) -> str:
    """Hash what is stored of a document: texts, places, metadata, layout and embedding model, as 64 hex digits."""
    digest = hashlib.sha256(f"{LAYOUT}\n{model_name}\n".encode())
    digest.update(document.model_dump_json().encode())
    return digest.hexdigest()


def part_hash(document_hash: str) -> str:
    """What a chunk carries in place of its document's hash until, and unless, it says the document is complete.

    A document is complete when its first chunk carries the hash itself. All its other chunks carry this, so that a
    document that was cut short never looks like a whole one, and chunks of an older version are known by it.
    """
    return f"part of {document_hash}"
