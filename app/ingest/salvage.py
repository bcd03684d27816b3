"""Stored chunks → the documents they were, as far as a damaged collection can still be read.

A document counts as recovered when the hash stored with it is the hash of what was read: then it is whole, and no
letter of it has changed. Its vectors are made anew.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Container, Iterable, Iterator
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from app.ingest.documents import SplitDocument
from app.ingest.identify import content_hash
from app.providers import edge_salvage
from app.providers.layout import CONTENT
from app.providers.payloads import chunk_index_of, metadata_of

_OF_CHUNK = ("chunk_id", "chunk_index", "spans", "chapter", "section", "page")
_OF_DOCUMENT = ("document_id", "title", "source", "url")
Row = dict[str, Any]


def salvage(shards: Iterable[Path], model_name: str, known: Container[str]) -> tuple[list[SplitDocument], list[str]]:
    """The documents of these shards that are not *known*: those that are whole, and the ids of those that are not."""
    rows: dict[str, list[Row]] = {}
    for shard in shards:
        for payload in _readable(shard):
            document_id = str(metadata_of(payload).get("document_id", ""))
            if document_id not in known:
                rows.setdefault(document_id, []).append(payload)
    whole: list[SplitDocument] = []
    lost: list[str] = []
    for document_id, found in sorted(rows.items()):
        document = _document(found, model_name)
        if document is not None:
            whole.append(document)
        else:
            lost.append(document_id)
    return whole, lost


def _readable(shard: Path) -> Iterator[Row]:
    command = [sys.executable, edge_salvage.__file__, str(shard)]
    pipe, null = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(command, stdin=null, stdout=pipe, stderr=null) as process:
        assert process.stdout is not None
        for line in process.stdout:
            if line.endswith(b"\n") and isinstance(payload := json.loads(line), dict):
                yield payload


def _document(rows: list[Row], model_name: str) -> SplitDocument | None:
    """The document of these chunks, if it is whole."""
    by_chunk = {str(metadata_of(row).get("chunk_id")): row for row in rows}  # the same chunk may be in two shards
    chunks = sorted(by_chunk.values(), key=lambda row: chunk_index_of(metadata_of(row)))
    first = metadata_of(chunks[0])
    stored = first.pop("content_hash", None)
    described = {name: first.pop(name, None) for name in _OF_DOCUMENT}
    try:
        document = SplitDocument(
            **described,
            metadata={name: value for name, value in first.items() if name not in _OF_CHUNK},
            chunks=tuple(_chunk(row) for row in chunks),
        )
    except ValidationError:
        return None
    return document if content_hash(document, model_name) == stored else None


def _chunk(row: Row) -> Any:
    metadata = metadata_of(row)
    return {"text": row.get(CONTENT), **{name: metadata.get(name) for name in _OF_CHUNK}}
