"""Load PDF with pypdf: the text layer only, since a scanned page is an image."""

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from math import hypot
from operator import itemgetter
from statistics import median, mode
from typing import Any

from pypdf import PageObject, PdfReader

from answering.text.sentences import sentence_spans
from app.ingest.documents import LoadedDocument
from app.ingest.loaders.archive import ENCRYPTED, reading
from app.ingest.loaders.outline import Outline
from app.ingest.loaders.text_encoding import Unreadable
from app.ingest.loaders.text_pages import running_key, running_lines, trimmed

LARGER = 1.1
"""A line this many times the size of the text is a heading."""
MAX_HEADING_CHARS = 150
_ITEM = re.compile(r"(?:[•‣◦▪●*–-]|\(?\d{1,2}[.)]|\(?[a-z]\))\s+\S")
_ENDS = re.compile(r"[.!?:;…][\"'”’)\]]*$")
_MADE_UP = re.compile(r"^(?:untitled|microsoft )|\.(?:docx?|tex|dvi|indd)$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of print: its text, its font size and its height on the page, in points."""

    text: str
    size: float
    height: float


def load(data: bytes, source: str) -> LoadedDocument:
    """Read the text of a PDF, pages 1-based; lines in larger type are headings.

    Raises ``Unreadable`` when it is encrypted, damaged or holds no text.
    """
    with reading("PDF"):
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise Unreadable(ENCRYPTED)
        page_lines = [_lines(page) for page in reader.pages]
        named = reader.metadata.title if reader.metadata else None
    pages = _without_running_lines(page_lines) if any(page_lines) else []
    if not any(pages):
        raise Unreadable("a PDF without text (a scan needs text recognition first)")
    outline = Outline()
    add_lines(outline, pages, body_size(pages))
    title = named.strip() if isinstance(named, str) else ""
    return outline.document(source, None if _MADE_UP.search(title) else title or None)


def _lines(page: PageObject) -> list[Line]:
    """Join the fragments of one page to lines, top to bottom, with font size and height."""
    fragments: list[tuple[Any, ...]] = []
    page.extract_text(visitor_text=lambda *fragment: fragments.append(fragment))
    parts: list[tuple[int, str, float, float]] = []  # number of the line, text, size, height on the page
    for text, matrix, text_matrix, _font, font_size in fragments:
        size = font_size * hypot(*matrix[2:4]) * hypot(*text_matrix[2:4])
        height = text_matrix[4] * matrix[1] + text_matrix[5] * matrix[3] + matrix[5]
        number = parts[-1][0] if parts else 0
        parts += [(number + at, part, size, height) for at, part in enumerate(text.split("\n"))]
    lines: list[Line] = []
    for _, grouped in groupby(parts, key=itemgetter(0)):
        line = list(grouped)
        if text := " ".join("".join(part for _, part, _, _ in line).split()):
            _, size, height = max((len(part), size, height) for _, part, size, height in line if part.strip())
            lines.append(Line(text.encode("utf-8", "replace").decode(), round(size, 1), height))
    return lines


def _without_running_lines(pages: Sequence[Sequence[Line]]) -> list[Sequence[Line]]:
    """Drop page numbers and lines that recur at the edges of half the pages, of three at least.

    Lines larger than the text are headings, and stay.
    """
    body = body_size(pages)
    running = running_lines([[line.text for line in page] for page in pages]) | {"#"}
    return [trimmed(page, lambda line: line.size <= body and running_key(line.text) in running) for page in pages]


def body_size(pages: Sequence[Sequence[Line]]) -> float:
    """Return the size most of the text is set in."""
    return mode(line.size for page in pages for line in page for _ in line.text)


def add_lines(outline: Outline, pages: Sequence[Sequence[Line]], body: float) -> None:
    """Add headings and paragraphs to ``outline``, each with the 1-based page it begins on.

    A sentence that crosses the end of a page is moved to the page where it begins.
    """
    sizes = sorted({line.size for page in pages for line in page if _is_heading(line, body)}, reverse=True)
    entries: list[tuple[int, int, str]] = []  # page, level (0: a paragraph), text
    for number, page in enumerate(pages, 1):
        for group in _groups(page, body):
            level = sizes.index(group[0].size) + 1 if _is_heading(group[0], body) else 0
            entries.append((number, level, _joined(group)))
    for page_number, level, text in _with_whole_sentences(entries):
        if level:
            outline.heading(level, text, page_number)
        else:
            outline.add(text, "list" if _ITEM.match(text) else "prose", page_number)


def _is_heading(line: Line, body: float) -> bool:
    letters = sum(map(str.isalpha, line.text))
    return line.size >= LARGER * body > 0 and letters > 1 and len(line.text) <= MAX_HEADING_CHARS


def _groups(page: Sequence[Line], body: float) -> list[list[Line]]:
    """Group lines that belong together: a paragraph, an item, or a heading of several lines."""
    gaps = [abs(upper.height - lower.height) for upper, lower in pairwise(page) if upper.size == lower.size == body]
    usual = median(gaps) if gaps else 0.0
    groups: list[list[Line]] = []
    for line in page:
        if groups and _continues(groups[-1][-1], line, usual, body):
            groups[-1].append(line)
        else:
            groups.append([line])
    return groups


def _continues(above: Line, line: Line, usual: float, body: float) -> bool:
    if _is_heading(above, body) or _is_heading(line, body):
        return _is_heading(above, body) and above.size == line.size and abs(above.height - line.height) < 2 * line.size
    return not _ITEM.match(line.text) and (usual == 0 or abs(above.height - line.height) <= 1.25 * usual)


def _joined(lines: Sequence[Line]) -> str:
    """Join lines; a word divided at the end of a line is put together."""
    text = lines[0].text
    for line in lines[1:]:
        if re.search(r"[a-zA-Zß-ÿ]-$", text) and line.text[0].islower():
            text = text[:-1] + line.text
        else:
            text += " " + line.text
    return text.replace("\u00ad ", "").replace("\u00ad", "")


def _with_whole_sentences(entries: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Move the end of a sentence split by a page break to its beginning."""
    merged: list[tuple[int, int, str]] = []
    for page, level, text in entries:
        if merged and level == 0 and text[0].islower():
            above_page, above_level, above = merged[-1]
            if above_level == 0 and above_page == page - 1 and not _ENDS.search(above):
                _, end = (sentence_spans(text) or ((0, len(text)),))[0]
                merged[-1] = (above_page, 0, f"{above} {text[:end]}")
                text = text[end:].strip()
        if text:
            merged.append((page, level, text))
    return merged
