"""JSON Lines → documents, row by row: a file of any length in bounded memory."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO

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
"""So many broken rows of a file are named one by one, the others counted."""


class Row(BaseModel):
    """One row: a chunk, kept whole, if it has ``chunk_id``, else text to be split. Other fields are left out."""

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
    """Yield the documents of a JSON Lines file; the rows of a document need not stand together.

    The file is read twice, so that only documents with rows still to come are held. A broken or overlong row is named
    by its line number (1-based) and left out; a file of rows that are no documents is named once, and so is one that
    somebody rewrites meanwhile.

    Raises ``OSError`` and ``Unreadable``.
    """
    last: dict[str, int] = {}
    broken: dict[int, str] = {}
    count = 0
    for line, row in _rows(path, max_row_chars):
        if isinstance(row, Row):
            last[row.document_id] = line
        else:
            count += 1
            if len(broken) < MAX_NAMED_ROWS:
                broken[line] = row
    if last:
        yield from (SkippedFile(path=source, reason=f"line {n}: {why}", rows_lost=True) for n, why in broken.items())
        if count > len(broken):
            yield SkippedFile(path=source, reason=f"{count - len(broken)} more broken lines", rows_lost=True)
    else:
        other = all(why.startswith("document_id: ") for why in broken.values())
        why = f"no row is a document (line {min(broken)}: {broken[min(broken)]})" if broken else "empty"
        yield SkippedFile(path=source, reason=why, rows_lost=not other)
    yield from _documents(_rows(path, max_row_chars), last, source)


def _documents(
    rows: Iterable[tuple[int, Row | str]], last: dict[str, int], source: str
) -> Iterator[LoadedDocument | SkippedFile]:
    """Yield each document as its last row is met; name the file where its rows are not those that ``last`` tells."""
    waiting: dict[str, list[Row]] = {}
    unmet = dict(last)
    strange = False
    for line, row in rows:
        if not isinstance(row, Row):
            continue
        if line > unmet.get(row.document_id, 0):
            strange = True
            continue
        waiting.setdefault(row.document_id, []).append(row)
        if line == unmet[row.document_id]:
            del unmet[row.document_id]
            yield _document(waiting.pop(row.document_id))
    if strange or unmet:
        reason = "changed while it was read, rows of it are missing: ingest it again"
        yield SkippedFile(path=source, reason=reason, rows_lost=True)


def _rows(path: Path, max_row_chars: int) -> Iterator[tuple[int, Row | str]]:
    """Line numbers with rows, or with what is wrong with them; blank lines are passed over."""
    with path.open("rb") as file:
        head, newline, rest = file.read(SAMPLE_BYTES).rpartition(b"\n")
    codec = encoding_of(head if newline else rest[:4])
    with path.open(encoding="utf-8-sig" if codec == "utf-8" else codec, errors="replace", newline="\n") as file:
        for line, content in _lines(file, max_row_chars):
            if content is None:
                yield line, f"longer than {max_row_chars:,} characters"
            elif content.strip():
                yield line, _row(content)


def _lines(file: IO[str], limit: int) -> Iterator[tuple[int, str | None]]:
    """Numbered lines; ``None`` for one longer than ``limit``, which is never held whole."""
    line = 0
    while content := file.readline(limit):
        line += 1
        if len(content) < limit or content.endswith("\n"):
            yield line, content
            continue
        while (rest := file.readline(limit)) and not rest.endswith("\n"):
            pass
        yield line, None


def _row(content: str) -> Row | str:
    try:
        row = Row.model_validate(json.loads(content))
        if "\\u" in content:
            row.model_dump_json()  # half of a surrogate pair is no text, and could not be stored
        if not row.text.strip():
            return "text: is empty"
        if row.chunk_id is not None and len(row.text) > MAX_CHUNK_CHARS:
            return f"text: longer than the {MAX_CHUNK_CHARS:,} characters one chunk may have"
        return row
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return ".".join(map(str, first["loc"])) + f": {first['msg']}" if first["loc"] else "not a JSON object"
    except (ValueError, RecursionError):
        return "not JSON"


def _document(rows: list[Row]) -> LoadedDocument:
    """The rows of one document, in file order; its title and url are the first that are given."""
    return LoadedDocument(
        document_id=rows[0].document_id,
        source=rows[0].document_id,
        title=one_line(next((row.title for row in rows if row.title), ""), MAX_TITLE_CHARS),
        url=next((row.url for row in rows if row.url), None),
        blocks=tuple(block for row in rows for block in _blocks(row)),
    )


def _blocks(row: Row) -> tuple[Block, ...]:
    place = row.model_dump(include={"chapter", "section", "page"})
    if row.chunk_id is not None:
        return (Block(text=row.text, chunk_id=row.chunk_id, **place),)
    outline = Outline()
    add_text(outline, row.text, headings=False)
    _, blocks = outline.finish(None, "")
    return tuple(block.model_copy(update=place) for block in blocks)
