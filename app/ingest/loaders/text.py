"""Load plain text: paragraphs, lists, aligned lines, clear headings; form feeds are page breaks."""

from __future__ import annotations

import re

from app.ingest.documents import Kind, LoadedDocument
from app.ingest.loaders.outline import Outline
from app.ingest.loaders.text_encoding import decode
from app.ingest.loaders.text_headings import ALIGNED, UNDERLINE, heading_levels, text_margin
from app.ingest.loaders.text_pages import indent_of, paragraphs

_LEVELS = {"=": 1, "-": 2, "#": 1}
_ITEM = re.compile(r"\s*(?:[-*+•‣◦]|\(?\d{1,3}[.)]|\(?[a-z]\))\s+\S")
_MARKER = re.compile(r"^\s*(?:[-*+•‣◦o]|\(?\d{1,3}[.)]|\(?[a-z]\))\s+")
_LETTER_BULLET = re.compile(r"^(\s*)o {2,}(?=\S)")
_DIVIDED = re.compile(r"(?<=\w)-\n(?=\w)")
FULL_LINE = 60
"""Columns that a line of wrapped text reaches in a text with a margin."""


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a plain text file. Its title is its centred title line or first heading, else made from the file name.

    Raises ``Unreadable`` for binary data.
    """
    outline = Outline()
    add_text(outline, decode(data))
    return outline.document(source)


def add_text(outline: Outline, text: str, *, headings: bool = True) -> None:
    """Add plain ``text`` to ``outline``, with or without looking for headings; form feeds count pages from 1."""
    found = paragraphs(text)
    margin = text_margin(found) if headings else 0
    levels = heading_levels(found, margin) if headings else {}
    for at, one in enumerate(found):
        if level := levels.get(at):
            outline.heading(level, " ".join(one.lines), one.page)
        elif rest := _after_ruled(outline, one.lines, one.page) if headings else one.lines:
            outline.add(*_reflowed(rest, margin), page=one.page)


def _after_ruled(outline: Outline, lines: list[str], page: int | None) -> list[str]:
    """Open the ruled heading the paragraph starts with, if it does; return the lines that are left."""
    if len(lines) >= 3 and UNDERLINE.match(lines[0]) and UNDERLINE.match(lines[2]):
        lines = lines[1:]  # ruled above and below
    if len(lines) >= 2 and (rule := UNDERLINE.match(lines[1])) and not UNDERLINE.match(lines[0]):
        outline.heading(_LEVELS.get(rule.group(1), 3), lines[0], page)
        return lines[2:]
    return lines


def _reflowed(lines: list[str], margin: int) -> tuple[str, Kind]:
    """Join a wrapped paragraph to one line, a list to one line per item; keep aligned columns.

    So do lines indented deeper than a text that has a margin, where none of them is full: an example, a grammar.
    """
    if any(ALIGNED.search(_MARKER.sub("", line).strip()) for line in lines):
        return "\n".join(lines), "list"
    lines = [_LETTER_BULLET.sub(r"\1- ", line) for line in lines]
    if margin and not any(_ITEM.match(line) for line in lines) and _is_set_apart(lines, margin):
        return "\n".join(lines), "list"
    if not any(_ITEM.match(line) for line in lines):
        return _joined(lines), "prose"
    items: list[list[str]] = []
    for line in lines:
        if _ITEM.match(line) or not items:
            items.append([])
        items[-1].append(line)
    return "\n".join(item[0][: indent_of(item[0])] + _joined(item) for item in items), "list"


def _joined(lines: list[str]) -> str:
    """Join wrapped lines; a compound divided at its hyphen is joined."""
    return _DIVIDED.sub("-", "\n".join(line.strip() for line in lines)).replace("\n", " ")


def _is_set_apart(lines: list[str], margin: int) -> bool:
    """Tell whether lines are indented beyond the margin and most of them are short."""
    short = sum(len(line) < FULL_LINE for line in lines[:-1])
    return len(lines) > 1 and all(indent_of(line) >= margin + 2 for line in lines) and 2 * short >= len(lines) - 1
