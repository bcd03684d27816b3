"""Plain text → blocks: paragraphs, lists and aligned lines; unmistakable headings; form feeds are page breaks."""

from __future__ import annotations

import re
from collections.abc import Iterator

from app.ingest.documents import Kind, LoadedDocument
from app.ingest.outline import Outline, title_from_name
from app.ingest.text_encoding import decode

_UNDERLINE = re.compile(r"\s*([=\-~^*#])\1{2,}\s*$")
_LEVELS = {"=": 1, "-": 2, "#": 1}
_ITEM = re.compile(r"\s*(?:[-*+•‣◦]|\(?\d{1,3}[.)]|\(?[a-z]\))\s+\S")
_ALIGNED = re.compile(r"\S(?: {3,}|\t)\S|^\s*\|")
MAX_HEADING_CHARS = 70
MAX_HEADING_WORDS = 10


def load_text(data: bytes, source: str) -> LoadedDocument:
    """Read a plain text file. Its title is its first heading, else made from the file name.

    Raises ``NotText`` for binary data.
    """
    outline = Outline()
    add_text(outline, decode(data))
    title, blocks = outline.finish(None, title_from_name(source))
    return LoadedDocument(document_id=source, title=title, source=source, blocks=blocks)


def add_text(outline: Outline, text: str, *, headings: bool = True) -> None:
    """Add plain ``text`` to ``outline``, with or without looking for headings; form feeds count pages from 1."""
    pages = text.split("\f")
    for number, page in enumerate(pages, 1):
        paged = number if len(pages) > 1 else None
        paragraphs = list(_paragraphs(page))
        titles = _titles(paragraphs, outline.started) if headings else set()
        for at, lines in enumerate(paragraphs):
            if at in titles:
                outline.heading(2 if outline.started else 1, lines[0], paged)
            elif rest := _after_ruled(outline, lines, paged) if headings else lines:
                outline.add(*_reflowed(rest), page=paged)


def _paragraphs(text: str) -> Iterator[list[str]]:
    """Runs of lines that are not blank."""
    lines: list[str] = []
    for line in text.split("\n"):
        if line.strip():
            lines.append(line.rstrip())
        elif lines:
            yield lines
            lines = []
    if lines:
        yield lines


def _titles(paragraphs: list[list[str]], started: bool) -> set[int]:
    """Which paragraphs are headings by their looks: lines that stand alone and have text below.

    Several such lines in a row are a list of lines; the line that opens a document is its title all the same.
    """
    alone = [len(lines) == 1 and _reads_as_heading(lines[0]) for lines in paragraphs]
    opening = {0} if not started and len(alone) > 1 and alone[0] else set()
    listed = [False, *(single and at not in opening for at, single in enumerate(alone)), False]
    return opening | {at for at in range(len(alone) - 1) if listed[at : at + 3] == [False, True, False]}


def _after_ruled(outline: Outline, lines: list[str], page: int | None) -> list[str]:
    """Open the ruled heading the paragraph starts with, if it does; return the lines that are left."""
    if len(lines) >= 3 and _UNDERLINE.match(lines[0]) and _UNDERLINE.match(lines[2]):
        lines = lines[1:]  # ruled above and below
    if len(lines) >= 2 and (rule := _UNDERLINE.match(lines[1])) and not _UNDERLINE.match(lines[0]):
        outline.heading(_LEVELS.get(rule.group(1), 3), lines[0], page)
        return lines[2:]
    return lines


def _reads_as_heading(line: str) -> bool:
    """A short line of its own that starts like a title and ends without punctuation."""
    line = line.strip()
    return (
        len(line) <= MAX_HEADING_CHARS
        and len(line.split()) <= MAX_HEADING_WORDS
        and (line[0].isupper() or line[0].isdigit())
        and line[-1] not in ".!?;:,"
        and any(sign.isalpha() for sign in line)
        and not _ALIGNED.search(line)
    )


def _reflowed(lines: list[str]) -> tuple[str, Kind]:
    """A wrapped paragraph as one line, a list with one line per item; aligned columns stay as they are."""
    if any(_ALIGNED.search(line.strip()) for line in lines):
        return "\n".join(lines), "list"
    if not any(_ITEM.match(line) for line in lines):
        return " ".join(line.strip() for line in lines), "prose"
    items: list[str] = []
    for line in lines:
        if _ITEM.match(line) or not items:
            items.append(line.rstrip())
        else:
            items[-1] += " " + line.strip()
    return "\n".join(items), "list"
