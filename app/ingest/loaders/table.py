"""A file → the documents in it: one table from suffix to loader, and the limits that hold for all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from app.ingest.documents import LoadedDocument, SkippedFile
from app.ingest.loaders.html import load_html
from app.ingest.loaders.jsonl import load_jsonl
from app.ingest.loaders.markdown import load_markdown
from app.ingest.loaders.pdf import load_pdf
from app.ingest.loaders.rst import load_rst
from app.ingest.loaders.text import load_text
from app.ingest.loaders.text_encoding import NotText

MAX_FILE_BYTES = 50 * 1024 * 1024
"""Largest file that is one document. JSON Lines are read row by row, so there the limit is on the row."""

MAX_ROW_CHARS = 10_000_000
"""Longest row of a JSON Lines file."""

OneDocument = Callable[[bytes, str], LoadedDocument]
"""Bytes and source → the document. Raises ``Unreadable`` or ``NotText``."""

ONE_DOCUMENT: Mapping[str, OneDocument] = {
    ".md": load_markdown,
    ".markdown": load_markdown,
    ".txt": load_text,
    ".text": load_text,
    ".rst": load_rst,
    ".html": load_html,
    ".htm": load_html,
    ".xhtml": load_html,
    ".pdf": load_pdf,
}
ROWS = frozenset({".jsonl", ".ndjson"})
LOADERS = frozenset(ONE_DOCUMENT) | ROWS
"""Every suffix that is read, in lower case."""


def load_file(path: Path, source: str) -> Iterator[LoadedDocument | SkippedFile]:
    """Yield the documents of one file and, by name, what of it could not be read. Never raises for a bad file."""
    rows = path.suffix.lower() in ROWS
    try:
        if rows:
            yield from load_jsonl(path, source, MAX_ROW_CHARS)
        else:
            yield _one_document(path, source)
    except MemoryError:
        yield SkippedFile(path=source, reason="reading it needs too much memory", rows_lost=rows)
    except RecursionError:
        yield SkippedFile(path=source, reason="nested too deeply", rows_lost=rows)
    except OSError as error:
        yield SkippedFile(path=source, reason=f"cannot be read: {error.strerror or 'input error'}", rows_lost=rows)
    except ValueError as error:
        reason = str(error) if isinstance(error, NotText) else "broken: its content could not be understood"
        yield SkippedFile(path=source, reason=reason, rows_lost=rows)
    except Exception as error:  # noqa: BLE001 - a parser's own defect on a strange file must not end the ingest of the others
        reason = f"broken: its reader gave up ({type(error).__name__})"
        yield SkippedFile(path=source, reason=reason, rows_lost=rows)


def _one_document(path: Path, source: str) -> LoadedDocument | SkippedFile:
    size = path.stat().st_size
    if size == 0:
        return SkippedFile(path=source, reason="empty")
    if size > MAX_FILE_BYTES:
        return SkippedFile(path=source, reason=f"larger than {MAX_FILE_BYTES // 1024**2} MiB ({size // 1024**2} MiB)")
    document = ONE_DOCUMENT[path.suffix.lower()](path.read_bytes(), source)
    if not document.blocks:
        return SkippedFile(path=source, reason="no text in it")
    return document
