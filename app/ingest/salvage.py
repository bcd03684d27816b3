"""Stored chunks → the documents they were, as far as a damaged database can still be read.

A document counts as recovered when the hash stored with it is the hash of what was read: then it is whole, and no
letter of it has changed. Its vectors are made anew.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Container, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from app.ingest.documents import SplitDocument
from app.ingest.identify import content_hash
from app.providers.stores.payloads import chunk_index_of

_OF_CHUNK = ("chunk_id", "chunk_index", "spans", "chapter", "section", "page")
_OF_DOCUMENT = ("document_id", "title", "source", "url")
Row = tuple[str, dict[str, Any]]
"""Text and metadata of a chunk."""


def salvage(file: Path, model_name: str, known: Container[str]) -> tuple[list[SplitDocument], list[str]]:
    """The documents of a database that are not *known*: those that are whole, and the ids of those that are not."""
    rows: dict[str, list[Row]] = {}
    for text, metadata in _readable(file):
        document_id = str(metadata.get("document_id", ""))
        if document_id not in known:
            rows.setdefault(document_id, []).append((text, metadata))
    whole: list[SplitDocument] = []
    lost: list[str] = []
    for document_id, found in sorted(rows.items()):
        document = _document(found, model_name)
        if document is not None:
            whole.append(document)
        else:
            lost.append(document_id)
    return whole, lost


def _readable(file: Path) -> Iterator[Row]:
    """One chunk after the other by its id, so that a damaged page hides no more than it holds."""
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


def _document(rows: list[Row], model_name: str) -> SplitDocument | None:
    """The document of these chunks, if it is whole."""
    chunks = sorted(rows, key=lambda row: chunk_index_of(row[1]))
    first = dict(chunks[0][1])
    stored = first.pop("content_hash", None)
    described = {name: first.pop(name, None) for name in _OF_DOCUMENT}
    parts: Any = tuple({"text": text, **{name: its.get(name) for name in _OF_CHUNK}} for text, its in chunks)
    try:
        document = SplitDocument(
            **described,
            metadata={name: value for name, value in first.items() if name not in _OF_CHUNK},
            chunks=parts,
        )
    except ValidationError:
        return None
    return document if content_hash(document, model_name) == stored else None
