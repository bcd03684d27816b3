"""Load a file by its suffix, within the limits that hold for all formats."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from app.ingest.documents import LoadedDocument, SkippedFile
from app.ingest.loaders.jsonl import load_jsonl
from app.ingest.loaders.text_encoding import Unreadable

MAX_FILE_BYTES = 50 * 1024 * 1024
"""Largest file that is one document. JSON Lines are read row by row, so the limit there is on the row."""

MAX_ROW_CHARS = 10_000_000
"""Longest row of a JSON Lines file."""

FORMATS = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".txt": "text",
    ".text": "text",
    ".rst": "rst",
    ".html": "html",
    ".htm": "html",
    ".xhtml": "html",
    ".pdf": "pdf",
    ".docx": "docx",
    ".pptx": "pptx",
    ".xlsx": "xlsx",
    ".csv": "csv_file",
    ".epub": "epub",
    ".eml": "eml",
}
"""Suffix → module of the loader, imported when the first such file is read: the parsers are slow to import."""

ROWS = frozenset({".jsonl", ".ndjson"})
LOADERS = frozenset(FORMATS) | ROWS
"""Every suffix that is read, in lower case."""


def load_file(path: Path, source: str) -> Iterator[LoadedDocument | SkippedFile]:
    """Yield the documents of one file and, by name, what of it could not be read. Raises nothing for a bad file."""
    suffix = path.suffix.lower()
    try:
        if suffix in ROWS:
            yield from load_jsonl(path, source, MAX_ROW_CHARS)
        else:
            yield _one_document(path, source)
        return
    except Unreadable as error:
        reason = str(error)
    except MemoryError:
        reason = "reading it needs too much memory"
    except RecursionError:
        reason = "nested too deeply"
    except OSError as error:
        reason = f"cannot be read: {error.strerror or 'input error'}"
    yield SkippedFile(path=source, reason=reason, rows_lost=suffix in ROWS)


def _one_document(path: Path, source: str) -> LoadedDocument:
    size = path.stat().st_size
    if size == 0:
        raise Unreadable("empty")
    if size > MAX_FILE_BYTES:
        raise Unreadable(f"larger than {MAX_FILE_BYTES // 1024**2} MiB ({size // 1024**2} MiB)")
    loader = import_module(f"app.ingest.loaders.{FORMATS[path.suffix.lower()]}")
    document: LoadedDocument = loader.load(path.read_bytes(), source)
    if not document.blocks:
        raise Unreadable("no text in it")
    return document
