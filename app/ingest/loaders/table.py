"""Load a file by its suffix, within the limits that hold for all formats."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

from app.ingest.documents import LoadedDocument, SkippedFile
from app.ingest.loaders.html import load_html
from app.ingest.loaders.jsonl import load_jsonl
from app.ingest.loaders.markdown import load_markdown
from app.ingest.loaders.pdf import load_pdf
from app.ingest.loaders.text import load_text
from app.ingest.loaders.text_encoding import Unreadable

MAX_FILE_BYTES = 50 * 1024 * 1024
"""Largest file that is one document. JSON Lines are read row by row, so the limit there is on the row."""

MAX_ROW_CHARS = 10_000_000
"""Longest row of a JSON Lines file."""


def _load_rst(data: bytes, source: str) -> LoadedDocument:
    from app.ingest.loaders.rst import load_rst  # docutils is slow to import

    return load_rst(data, source)


ONE_DOCUMENT: dict[str, Callable[[bytes, str], LoadedDocument]] = {
    ".md": load_markdown,
    ".markdown": load_markdown,
    ".txt": load_text,
    ".text": load_text,
    ".rst": _load_rst,
    ".html": load_html,
    ".htm": load_html,
    ".xhtml": load_html,
    ".pdf": load_pdf,
}
"""Suffix → loader, which takes bytes and source. Raises ``Unreadable`` with words for people."""

ROWS = frozenset({".jsonl", ".ndjson"})
LOADERS = frozenset(ONE_DOCUMENT) | ROWS
"""Every suffix that is read, in lower case."""

log = logging.getLogger("garden.ingest")


def load_file(path: Path, source: str) -> Iterator[LoadedDocument | SkippedFile]:
    """Yield the documents of one file and, by name, what of it could not be read. Never raises for a bad file.

    Any error that a loader does not expect is a defect of ours: it is logged with its traceback.
    """
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
    except Exception as error:  # one file must not end the ingest of the others
        log.exception("loader_failed", extra={"file": source})
        reason = f"internal error of the {suffix} loader ({type(error).__name__}), see the log"
    yield SkippedFile(path=source, reason=reason, rows_lost=suffix in ROWS)


def _one_document(path: Path, source: str) -> LoadedDocument:
    size = path.stat().st_size
    if size == 0:
        raise Unreadable("empty")
    if size > MAX_FILE_BYTES:
        raise Unreadable(f"larger than {MAX_FILE_BYTES // 1024**2} MiB ({size // 1024**2} MiB)")
    document = ONE_DOCUMENT[path.suffix.lower()](path.read_bytes(), source)
    if not document.blocks:
        raise Unreadable("no text in it")
    return document
