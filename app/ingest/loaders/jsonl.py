"""Load JSON Lines row by row: a file of any length in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, PositiveInt, ValidationError

from app.ingest.documents import (
    MAX_CHUNK_CHARS,
    MAX_TITLE_CHARS,
    Block,
    ChunkId,
    DocumentId,
    Label,
    LoadedDocument,
    SkippedFile,
    Url,
)
from app.ingest.loaders.outline import Outline, one_line
from app.ingest.loaders.text import add_text
from app.ingest.loaders.text_encoding import SAMPLE_BYTES, encoding_of

MAX_NAMED_ROWS = 20
"""Broken rows of a file that are named one by one; the others are counted."""


class Row(BaseModel):
    """One row: a chunk that is never changed if it has ``chunk_id``, else text to be split."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    document_id: DocumentId
    title: str = ""
    text: str
    url: Url | None = None
    chapter: Label | None = None
    section: Label | None = None
    page: PositiveInt | None = None
    chunk_id: ChunkId | None = None


def load_jsonl(path: Path, source: str, max_row_chars: int) -> Iterator[LoadedDocument | SkippedFile]:
    """Yield the documents of a JSON Lines file; the rows of a document need not be adjacent.

    The file is read twice, so that only documents with rows still to come are held. A broken or overlong row is named
    by its line number (1-based) and left out; a file of rows that are no documents is named once.

    Raises ``OSError`` and ``Unreadable``.
    """
    last: dict[str, int] = {}
    broken: list[str] = []
    others, more = True, 0  # whether all broken rows are of another kind (questions, tasks)
    for line, row in _rows(path, max_row_chars):
        if isinstance(row, Row):
            last[row.document_id] = line
            continue
        others &= row.startswith("document_id: ")
        more += len(broken) == MAX_NAMED_ROWS
        broken += [f"line {line}: {row}"] if len(broken) < MAX_NAMED_ROWS else []
    if last:
        reasons = broken + [f"{more} more broken lines"] * bool(more)
        yield from (SkippedFile(path=source, reason=reason, rows_lost=True) for reason in reasons)
    else:
        reason = f"no row is a document ({broken[0]})" if broken else "empty"
        yield SkippedFile(path=source, reason=reason, rows_lost=not others)
    waiting: dict[str, list[Row]] = {}
    for line, row in _rows(path, max_row_chars):
        if isinstance(row, Row):
            waiting.setdefault(row.document_id, []).append(row)
            if line == last.get(row.document_id):
                del last[row.document_id]
                yield _document(waiting.pop(row.document_id))
    if last or waiting:
        reason = "changed while it was read, rows of it are missing: ingest it again"
        yield SkippedFile(path=source, reason=reason, rows_lost=True)


def _rows(path: Path, max_row_chars: int) -> Iterator[tuple[int, Row | str]]:
    """Yield the numbered rows that are not blank, or what is wrong with them; an overlong one is never held whole."""
    with path.open("rb") as binary:
        head, newline, rest = binary.read(SAMPLE_BYTES).rpartition(b"\n")
    codec = encoding_of(head if newline else rest[:4])
    with path.open(encoding="utf-8-sig" if codec == "utf-8" else codec, errors="replace", newline="\n") as file:
        line = 0
        while content := file.readline(max_row_chars):
            line += 1
            if len(content) == max_row_chars and not content.endswith("\n"):
                while (rest_of_it := file.readline(max_row_chars)) and not rest_of_it.endswith("\n"):
                    pass
                yield line, f"longer than {max_row_chars:,} characters"
            elif content.strip():
                yield line, _row(content)


def _row(content: str) -> Row | str:
    try:
        row = Row.model_validate(json.loads(content))
        if "\\u" in content:
            row.model_dump_json()  # half of a surrogate pair cannot be stored
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return ".".join(map(str, first["loc"])) + f": {first['msg']}" if first["loc"] else "not a JSON object"
    except (ValueError, RecursionError):
        return "not JSON"
    if not row.text.strip():
        return "text: is empty"
    if row.chunk_id is not None and len(row.text) > MAX_CHUNK_CHARS:
        return f"text: longer than the {MAX_CHUNK_CHARS:,} characters one chunk may have"
    return row


def _document(rows: list[Row]) -> LoadedDocument:
    """Join the rows of one document, in file order; its title and url are the first that are given."""
    blocks: list[Block] = []
    for row in rows:
        position = row.model_dump(include={"chapter", "section", "page"})
        if row.chunk_id is not None:
            blocks.append(Block(text=row.text, chunk_id=row.chunk_id, **position))
            continue
        add_text(outline := Outline(), row.text, headings=False)
        blocks += (block.model_copy(update=position) for block in outline.document(rows[0].document_id).blocks)
    return LoadedDocument(
        document_id=rows[0].document_id,
        source=rows[0].document_id,
        title=one_line(next((row.title for row in rows if row.title), ""), MAX_TITLE_CHARS),
        url=next((row.url for row in rows if row.url), None),
        blocks=tuple(blocks),
    )
