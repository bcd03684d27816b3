"""Load plain text: paragraphs, lists, aligned lines, clear headings; form feeds are page breaks."""

import re
from collections.abc import Container, Iterator
from itertools import pairwise
from textwrap import dedent

from answering.text.sentences import LABELLED
from app.ingest.documents import Kind, LoadedDocument
from app.ingest.loaders.outline import Outline, grouped, indent_of, table_block
from app.ingest.loaders.text_encoding import decode
from app.ingest.loaders.text_headings import (
    ALIGNED,
    heading_levels,
    is_chapter,
    is_head,
    level_above,
    numbered_heads,
    text_margin,
)
from app.ingest.loaders.text_lines import ITEM, LineJoiner, joined_lines, led_entries
from app.ingest.loaders.text_pages import Paragraph, paragraphs
from app.ingest.loaders.text_tables import parts_of

UNDERLINE = re.compile(r"\s*([=\-~^*#])\1{2,}\s*$")
_MARKED = re.compile(r"\s*(=+|#{2,})\s+([^\s=#].*?)\s+\1\s*")
"""A heading between marks: "=== Meeting of 13 May ===", as wikis write it too."""
_LEVELS = {"=": 1, "-": 2, "#": 1}
_MARKER = re.compile(r"^\s*(?:[-*+•‣◦o]|\(?\d{1,3}[.)]|\(?[a-z]\)|\([ivx]{2,4}\))\s+")
_LETTER_BULLET = re.compile(r"^(\s*)o {2,}(?=\S)")
_STAMPED = re.compile(r"\W{0,2}(?:\d{1,4}[./-]\d{1,2}[./-]\d{1,4},? )?\d{1,2}:\d\d(?::\d\d)?\b")
"""A line of a chat, a log or a transcript opens with its time."""
FULL_LINE = 60  # columns that a line of wrapped text reaches in a text with a margin


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a plain text file, titled by its centred title line, first heading or file name.

    Raises ``Unreadable`` for binary data.
    """
    outline = Outline()
    add_text(outline, decode(data))
    return outline.document(source)


def add_text(outline: Outline, text: str, *, headings: bool = True) -> None:
    """Add plain ``text`` to ``outline``, with *headings* looked for; form feeds count pages from 1."""
    paras, notes = paragraphs(text)
    width = min(max((len(line) for para in paras for line in para.lines), default=0), 80)
    numbered = numbered_heads(paras, width)
    if headings:
        paras = [Paragraph(part, para.page) for para in paras for part in _chapters(para.lines, numbered)]
    outline.notes += notes
    margin = text_margin(paras) if headings else 0
    levels = heading_levels(paras, margin) if headings else {}
    joiner = LineJoiner([line for para in paras for line in para.lines])
    for at, para in enumerate(paras):
        if level := levels.get(at):
            outline.heading(level, " ".join(para.lines), para.page)
        elif rest := _after_ruled(outline, para.lines, para.page) if headings else para.lines:
            if headings and not margin and (level := level_above(rest, width) or is_head(rest, numbered) * 2):
                outline.heading(level if at or rest[0] in numbered else 1, rest[0], para.page)
                rest = dedent("\n".join(rest[1:])).split("\n")
            if entries := led_entries(rest):
                outline.add(entries, "list", page=para.page)
                continue
            for lines, rows in parts_of(rest):
                if rows:
                    outline.add(*table_block(rows), page=para.page)
                for run in _runs(lines, margin, width) if lines else ():
                    outline.add(*_reflowed(run, margin, joiner), page=para.page)


def _chapters(lines: list[str], numbered: Container[str]) -> Iterator[list[str]]:
    """Yield the lines of a paragraph in parts: a chapter's heading ("2. Use") stands apart from its clauses ("2.1").

    One of the *numbered* headings opens a part.
    """
    start = 0
    for at, (line, below) in enumerate(pairwise(lines)):
        if is_chapter(line, below):
            yield from filter(None, (lines[start:at], [line]))
            start = at + 1
        elif line in numbered and at > start:
            yield lines[start:at]
            start = at
    yield lines[start:]


def _after_ruled(outline: Outline, lines: list[str], page: int | None) -> list[str]:
    """Open the heading a paragraph starts with, underlined or between marks, if any; return the other lines."""
    if marked := _MARKED.fullmatch(lines[0]):
        outline.heading(len(marked[1]), marked[2], page)
        return lines[1:]
    if len(lines) >= 3 and UNDERLINE.match(lines[0]) and UNDERLINE.match(lines[2]):
        lines = lines[1:]  # ruled above and below
    names_columns = len(lines) > 2 and ALIGNED.search(lines[0].strip()) and ALIGNED.search(lines[2].strip())
    if len(lines) >= 2 and (rule := UNDERLINE.match(lines[1])) and not (UNDERLINE.match(lines[0]) or names_columns):
        outline.heading(_LEVELS.get(rule.group(1), 3), lines[0], page)
        return lines[2:]
    return lines


def _runs(lines: list[str], margin: int, width: int) -> Iterator[list[str]]:
    """Yield runs of wrapped lines: one far shorter than ``width``, or "Label: value" above another, ends its run."""
    kept = indent_of(lines[0]) > margin or any(ALIGNED.search(line.strip()) for line in lines)
    start = 0
    for at, (line, below) in enumerate(pairwise([] if kept else lines), 1):
        short = len(line) < width // 2 and not below.lstrip()[0].islower() and line[-1] != "-"
        ends = (short and width >= FULL_LINE) or (LABELLED.match(line) and LABELLED.match(below))
        ends = ends or (_STAMPED.match(lines[0]) and _STAMPED.match(below))
        if ends and indent_of(below) <= margin and not ITEM.match(below):
            yield lines[start:at]
            start = at
    yield lines[start:]


def _reflowed(lines: list[str], margin: int, joiner: LineJoiner) -> tuple[str, Kind]:
    """Join a wrapped paragraph to one line, list items to one each; keep aligned columns.

    So do lines indented deeper than a text that has a margin, where none of them is full: an example, a grammar.
    """
    if any(ALIGNED.search(_MARKER.sub("", line).strip()) for line in lines):
        return "\n".join(lines), "list"
    lines = [_LETTER_BULLET.sub(r"\1- ", line) for line in lines]
    if not any(map(ITEM.match, lines)):
        if margin and _is_set_apart(lines, margin):
            return "\n".join(lines), "list"
        return joined_lines(lines, joiner), "prose"
    items = grouped(lines, lambda _item, line: not ITEM.match(line))
    return "\n".join(item[0][: indent_of(item[0])] + joined_lines(item, joiner) for item in items), "list"


def _is_set_apart(lines: list[str], margin: int) -> bool:
    """Tell whether lines are indented beyond the margin and most of them are short."""
    short = sum(len(line) < FULL_LINE for line in lines[:-1])
    return len(lines) > 1 and all(indent_of(line) >= margin + 2 for line in lines) and 2 * short >= len(lines) - 1
