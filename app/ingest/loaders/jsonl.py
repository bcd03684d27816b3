"""Load JSON Lines: rows that are documents, else records."""

import json
from collections.abc import Iterator
from typing import TypeVar

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
from app.ingest.loaders import json_file
from app.ingest.loaders.outline import Outline, first_of, one_line
from app.ingest.loaders.text import add_text
from app.ingest.loaders.text_encoding import decode

MAX_NAMED_ROWS = 20  # broken rows of a file that are named one by one; the others are counted
MAX_ROW_CHARS = 10_000_000
"""Longest row."""
MAX_RECORDS_CHARS = 50_000_000
"""Longest text of records, which are one document."""
T = TypeVar("T", bound=BaseModel)


class Row(BaseModel):
    """One row: with ``chunk_id`` a chunk that is never changed, else text to be split."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    document_id: DocumentId
    title: str = ""
    text: str
    url: Url | None = None
    chapter: Label | None = None
    section: Label | None = None
    page: PositiveInt | None = None
    chunk_id: ChunkId | None = None


def load(data: bytes, source: str) -> Iterator[LoadedDocument | SkippedFile]:
    """Yield the documents of a JSON Lines file, whose rows may be in any order.

    A broken row is named by its line number (1-based) and left out. Rows that are no documents are read as records, as
    those of a JSON file are; a file of others, such as questions, is named once. Raises ``Unreadable`` for binary data.
    """
    documents: dict[str, list[Row]] = {}
    broken: list[str] = []
    text = decode(data)
    for number, line in enumerate(text.split("\n"), 1):
        row = _row(line) if line.strip() else None
        if isinstance(row, Row):
            documents.setdefault(row.document_id, []).append(row)
        elif row:
            broken.append(f"line {number}: {row}")
    if not documents and broken and _has_records(text):
        yield json_file.load(data, source)
        return
    if not documents:
        of_another_kind = all(": document_id: " in note for note in broken)  # questions, tasks
        reason = f"no row is a document ({broken[0]})" if broken else "empty"
        yield SkippedFile(path=source, reason=reason, rows_lost=not of_another_kind)
        return
    for reason in first_of(broken, MAX_NAMED_ROWS, "broken lines"):
        yield SkippedFile(path=source, reason=reason, rows_lost=True)
    yield from map(_document, documents.values())


def _has_records(text: str) -> bool:
    """Whether all rows are objects of several values: records, but for questions that wait for an answer."""
    if len(text) > MAX_RECORDS_CHARS:
        return False
    try:
        rows = [json.loads(line) for line in text.split("\n") if line.strip()]
        json.dumps(rows, ensure_ascii=False).encode()  # half of a surrogate pair cannot be stored
    except (ValueError, RecursionError):
        return False
    return all(
        isinstance(row, dict)
        and len(row) > 1
        and "document_id" not in row
        and ("question" not in row or row.get("answer"))
        for row in rows
    )


def _row(line: str) -> Row | str:
    if len(line) > MAX_ROW_CHARS:
        return f"longer than {MAX_ROW_CHARS:,} characters"
    row = parse_row(Row, line)
    if isinstance(row, Row) and not row.text.strip():
        return "text: is empty"
    if isinstance(row, Row) and row.chunk_id is not None and len(row.text) > MAX_CHUNK_CHARS:
        return f"text: longer than the {MAX_CHUNK_CHARS:,} characters one chunk may have"
    return row


def parse_row(model: type[T], line: str) -> T | str:
    """Return a line of JSON as *model*, or what is wrong with it."""
    try:
        row = model.model_validate(json.loads(line))
        if "\\u" in line:
            row.model_dump_json()  # half of a surrogate pair cannot be stored
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return ".".join(map(str, first["loc"])) + f": {first['msg']}" if first["loc"] else "not a JSON object"
    except (ValueError, RecursionError):
        return "not JSON"
    return row


def _document(rows: list[Row]) -> LoadedDocument:
    """Join the rows of one document, in file order; the first title and url count."""
    blocks: list[Block] = []
    notes: list[str] = []
    for row in rows:
        position = row.model_dump(include={"chapter", "section", "page"})
        if row.chunk_id is not None:
            blocks.append(Block(text=row.text, chunk_id=row.chunk_id, **position))
            continue
        add_text(outline := Outline(), row.text, headings=False)
        blocks += (block.model_copy(update=position) for block in outline.document(rows[0].document_id).blocks)
        notes += outline.notes
    return LoadedDocument(
        document_id=rows[0].document_id,
        source=rows[0].document_id,
        title=one_line(next((row.title for row in rows if row.title), ""), MAX_TITLE_CHARS),
        url=next((row.url for row in rows if row.url), None),
        notes=tuple(notes),
        blocks=tuple(blocks),
    )
