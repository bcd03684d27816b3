"""PDF → blocks per page, by pypdf; the text layer only (a scanned page is an image)."""

from __future__ import annotations

import io
import logging
import re
from typing import TYPE_CHECKING, Any

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.outline import Outline, title_from_name
from app.ingest.loaders.pdf_lines import Line, body_size, without_running_lines
from app.ingest.loaders.pdf_paragraphs import add_lines
from app.ingest.loaders.text_encoding import NotText

if TYPE_CHECKING:
    from pypdf import PageObject, PdfReader

MAX_PAGES = 20_000
_MADE_UP = re.compile(r"^(?:untitled|microsoft )|\.(?:docx?|tex|dvi|indd)$", re.IGNORECASE)


def load_pdf(data: bytes, source: str) -> LoadedDocument:
    """Read the text of a PDF page by page (pages are 1-based); lines in larger type are its headings.

    Raises ``NotText``, with words for people, when it is encrypted, damaged, too long or holds no text.
    """
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise NotText("encrypted: it opens only with a password")
        if len(reader.pages) > MAX_PAGES:
            raise NotText(f"more than {MAX_PAGES:,} pages")
        pages = [_lines(page) for page in reader.pages]
        title = _title(reader)
    except (PyPdfError, KeyError, IndexError, TypeError, AttributeError, AssertionError) as error:
        raise NotText("a damaged PDF") from error
    lines = without_running_lines(pages)
    if not any(lines):
        raise NotText("a PDF without text (a scan needs text recognition first)")
    outline = Outline()
    add_lines(outline, lines, body_size(lines))
    title, blocks = outline.finish(title, title_from_name(source))
    return LoadedDocument(document_id=source, title=title, source=source, blocks=blocks)


def _lines(page: PageObject) -> list[Line]:
    """The lines of one page from top to bottom as pypdf orders them, each with its size of type and height."""
    lines: list[Line] = []
    words: list[str] = []
    sizes: list[tuple[int, float, float]] = []  # characters, size, height on the page

    def visit(text: str, matrix: Any, text_matrix: Any, _font: Any, font_size: float) -> None:
        for number, part in enumerate(text.split("\n")):
            if number:
                end_line()
            if part.strip():
                scale = (matrix[2] ** 2 + matrix[3] ** 2) ** 0.5 * (text_matrix[2] ** 2 + text_matrix[3] ** 2) ** 0.5
                height = text_matrix[4] * matrix[1] + text_matrix[5] * matrix[3] + matrix[5]
                sizes.append((len(part), font_size * scale, height))
            words.append(part)

    def end_line() -> None:
        if text := " ".join("".join(words).split()):
            _, size, height = max(sizes)
            lines.append(Line(text.encode("utf-8", "replace").decode(), round(size, 1), height))
        words.clear()
        sizes.clear()

    page.extract_text(visitor_text=visit)
    end_line()
    return lines


def _title(reader: PdfReader) -> str | None:
    """The title in the file's own description, unless a word processor made it up."""
    title = reader.metadata.title if reader.metadata else None
    if not isinstance(title, str) or not title.strip():
        return None
    title = title.strip()
    return None if _MADE_UP.search(title) else title
