"""Load a file by its suffix, within the limits that hold for all formats."""

from collections.abc import Callable, Iterator
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from warnings import catch_warnings

from answering.relevance.versions import NOT_IN_FORCE
from app.ingest.documents import LoadedDocument, SkippedFile
from app.ingest.loaders.fields import date_field, file_fields
from app.ingest.loaders.run_in_headings import with_run_in_headings
from app.ingest.loaders.source_code import EXAMPLES, LANGUAGES, LOG, SETTINGS
from app.ingest.loaders.text_encoding import Unreadable
from app.providers.plugins import registered

MAX_FILE_BYTES, MAX_ROWS_BYTES = 50 * 1024 * 1024, 256 * 1024 * 1024
"""Largest file that is one document, and largest file of rows."""
_MODULES = {
    **{f".{name}": name for name in ("rst", "html", "pdf", "docx", "pptx", "xlsx", "epub", "eml", "odt", "rtf")},
    **dict.fromkeys((".md", ".markdown", ".mkd", ".mdown", ".qmd", ".rmd"), "markdown"),
    ".mdx": "mdx",
    **dict.fromkeys((".txt", ".text"), "text"),
    **dict.fromkeys((".htm", ".xhtml"), "html"),
    **dict.fromkeys((".csv", ".tsv", ".tab"), "csv_file"),
    ".json": "json_file",
    ".xml": "xml_file",
    ".ipynb": "notebook",
    ".vtt": "transcript",
    **dict.fromkeys((LOG, *LANGUAGES), "source_code"),
    **dict.fromkeys((*SETTINGS, *EXAMPLES), "config_file"),
}
FORMATS = {
    **{suffix: f"app.ingest.loaders.{module}" for suffix, module in _MODULES.items()},
    **{f".{name}": point.value for name, point in registered("formats").items()},
}
"""Suffix → module of the loader, imported when the first such file is read: the parsers are slow to import.

Packages register more of them, or others in their place.
"""
ON_PROGRESS: ContextVar[Callable[[], None]] = ContextVar("ON_PROGRESS", default=lambda: None)
"""Called while a slow file is read, so that its time limit begins anew; the process that reads files sets it."""
ROWS = frozenset({".jsonl", ".ndjson"})
"""Suffixes of files that hold any number of documents."""
LOADERS = frozenset(FORMATS) | ROWS
"""Every suffix that is read, in lower case."""


def load_file(path: Path, source: str) -> Iterator[LoadedDocument | SkippedFile]:
    """Yield the documents of one file, and what could not be read. A bad file raises nothing."""
    suffix = path.suffix.lower()
    limit = MAX_ROWS_BYTES if suffix in ROWS else MAX_FILE_BYTES
    try:
        size = path.stat().st_size
        if size == 0:
            raise Unreadable("empty")
        if size > limit:
            raise Unreadable(f"larger than {limit // 1024**2} MiB ({size // 1024**2} MiB)")
        loader = import_module(FORMATS.get(suffix, "app.ingest.loaders.jsonl"))
        with catch_warnings(action="ignore"):  # about markup, and features of a file that are not read
            loaded = loader.load(path.read_bytes(), source)
        fields = file_fields(path, source)
        for document in [loaded] if isinstance(loaded, LoadedDocument) else loaded:
            if isinstance(document, LoadedDocument):
                metadata = fields | document.metadata | date_field(document)
                document = document.model_copy(update={"metadata": metadata})
                if str(metadata.get("dated", "")).lstrip(NOT_IN_FORCE):
                    document = with_run_in_headings(document)
            yield document
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
