"""Load PDF with pypdf: the text layer only, since a scanned page is an image."""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from pypdf import PageObject, PdfReader

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.archive import ENCRYPTED, reading
from app.ingest.loaders.outline import Outline
from app.ingest.loaders.pdf_paragraphs import Line, add_lines
from app.ingest.loaders.text_encoding import Unreadable
from app.ingest.loaders.text_pages import running_key, running_lines, trimmed

_MADE_UP = re.compile(r"^(?:untitled|microsoft )|\.(?:docx?|tex|dvi|indd)$", re.IGNORECASE)


def load(data: bytes, source: str) -> LoadedDocument:
    """Read the text of a PDF page by page (pages are 1-based); lines in larger type are its headings.

    Raises ``Unreadable`` when it is encrypted, damaged or holds no text.
    """
    with reading("PDF"):
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable(ENCRYPTED)
        found = [_fragments(page) for page in reader.pages]
        named = reader.metadata.title if reader.metadata else None
    pages = _without_running_lines([_lines(fragments) for fragments in found])
    if not any(pages):
        raise Unreadable("a PDF without text (a scan needs text recognition first)")
    outline = Outline()
    add_lines(outline, pages, body_size(pages))
    given = named.strip() if isinstance(named, str) else ""
    return outline.document(source, None if _MADE_UP.search(given) else given or None)


def _fragments(page: PageObject) -> list[tuple[Any, ...]]:
    """Return the pieces of text of a page as pypdf gives them to a visitor."""
    fragments: list[tuple[Any, ...]] = []
    page.extract_text(visitor_text=lambda *fragment: fragments.append(fragment))
    return fragments


def _lines(fragments: Sequence[tuple[Any, ...]]) -> list[Line]:
    """Join the pieces of one page to lines, from top to bottom, each with its size of type and height."""
    lines: list[Line] = []
    words: list[str] = []
    sizes: list[tuple[int, float, float]] = []  # characters, size, height on the page

    def end_line() -> None:
        if text := " ".join("".join(words).split()):
            _, size, height = max(sizes)
            lines.append(Line(text.encode("utf-8", "replace").decode(), round(size, 1), height))
        words.clear()
        sizes.clear()

    for text, matrix, text_matrix, _font, font_size in fragments:
        for number, part in enumerate(text.split("\n")):
            if number:
                end_line()
            if part.strip():
                scale = (matrix[2] ** 2 + matrix[3] ** 2) ** 0.5 * (text_matrix[2] ** 2 + text_matrix[3] ** 2) ** 0.5
                height = text_matrix[4] * matrix[1] + text_matrix[5] * matrix[3] + matrix[5]
                sizes.append((len(part), font_size * scale, height))
            words.append(part)
    end_line()
    return lines


def _without_running_lines(pages: Sequence[Sequence[Line]]) -> list[Sequence[Line]]:
    """Drop what recurs at the edges of at least half the pages (and of three), and page numbers there.

    Lines larger than the text are headings, and stay.
    """
    if not any(pages):
        return []
    body = body_size(pages)
    running = running_lines([[line.text for line in page] for page in pages]) | {"#"}

    def runs(line: Line) -> bool:
        return line.size <= body and running_key(line.text) in running

    return [trimmed(page, runs) for page in pages]


def body_size(pages: Sequence[Sequence[Line]]) -> float:
    """Return the size most of the text is set in."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page:
            sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0]
