"""Rebuild documents from the chunks that can still be read in a damaged database.

A document is recovered when the hash stored with it is the hash of what was read, so that not a letter has changed. Its
vectors are made again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from app.ingest.documents import DocumentInfo, SplitDocument, TextChunk
from app.ingest.parts import content_hash
from app.providers.stores.payloads import chunk_index_of

_OF_CHUNK = TextChunk.model_fields.keys()
_OF_DOCUMENT = DocumentInfo.model_fields.keys() - {"metadata"}
_OWN = {*_OF_CHUNK, *_OF_DOCUMENT, "content_hash", "ingested_at"}


def salvage(file: Path, model_name: str, known: Container[str]) -> tuple[list[SplitDocument], list[str]]:
    """Return the complete documents of a database that are not *known*, and the ids of the incomplete ones."""
    chunks: dict[str, list[dict[str, Any]]] = {}
    for text, metadata in _readable(file):
        document_id = str(metadata.get("document_id", ""))
        if document_id not in known:
            chunks.setdefault(document_id, []).append({**metadata, "text": text})
    recovered: list[SplitDocument] = []
    lost: list[str] = []
    for document_id, found in sorted(chunks.items()):
        found.sort(key=chunk_index_of)
        first = found[0]
        fields = {
            **{name: first.get(name) for name in _OF_DOCUMENT},
            "metadata": {name: its for name, its in first.items() if name not in _OWN},
            "chunks": [{name: one.get(name) for name in _OF_CHUNK} for one in found],
        }
        with suppress(ValidationError):
            document = SplitDocument.model_validate(fields)
            if content_hash(document, model_name) == first.get("content_hash"):
                recovered.append(document)
                continue
        lost.append(document_id)
    return recovered, lost


def _readable(file: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield text and metadata chunk by chunk, so that a damaged page hides no more than it holds."""
    with closing(sqlite3.connect(file)) as connection:
        connection.text_factory = lambda raw: raw.decode(errors="replace")
        try:
            (last,) = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'chunks'").fetchone() or (0,)
        except sqlite3.DatabaseError:
            return
        for own in range(1, last + 1):
            try:
                found = connection.execute("SELECT text, metadata FROM chunks WHERE id = ?", (own,)).fetchone()
                if found:
                    yield found[0], orjson.loads(found[1])
            except (sqlite3.DatabaseError, orjson.JSONDecodeError):
                continue
