"""Tell the headings of plain text: numbered, in capitals, alone in a paragraph, centred, or above what is indented."""

import re
from collections import Counter
from collections.abc import Container, Sequence
from itertools import pairwise

from app.ingest.loaders.outline import indent_of
from app.ingest.loaders.text_lines import LED
from app.ingest.loaders.text_pages import Paragraph

MAX_HEADING_CHARS = 70
MAX_HEADING_WORDS = 10
TITLE_AMONG = 12  # paragraphs at the head of a text among which its centred title may stand
CENTRED_FROM = 8  # columns before a centred title, at the least
ALIGNED = re.compile(r"\S(?: {3,}|\t)\S|^\s*\|.*\|\s*$")
"""Columns, or a row between bars."""
_NUMBER = re.compile(r"(?:(?:appendix|annex|chapter|section|part)\s+)?(?P<number>\d+|[A-Z](?=\.))(?P<rest>(?:\.\d+)*)")
_NUMBERED = re.compile(rf"{_NUMBER.pattern}(?:\.|:)?\s+(?P<words>\S.*)$", re.IGNORECASE)
_ENDS = re.compile(r"(?:\A|[.!?:)])\s*\Z")
_CHAPTER = re.compile(r"(\d{1,2})\.?\s+\S")


def heading_levels(paras: Sequence[Paragraph], margin: int) -> dict[int, int]:
    """Return the heading levels by paragraph: 1 for the title, 2 and below for sections."""
    title = _centred_title(paras, margin)
    numbered = {at: depth + 1 for at, para in enumerate(paras) if (depth := _depth(para, margin))}
    for at, (para, below) in enumerate(pairwise(paras)):
        if len(para.lines) == 1 and is_chapter(para.lines[0], below.lines[0]):
            numbered[at] = 2
    single = {at for at, para in enumerate(paras) if len(para.lines) == 1 and (not margin or para.indent == 0)}
    alone = [at in numbered or (at in single and reads_as_heading(para.lines[0])) for at, para in enumerate(paras)]
    opening = {0} if title is None and len(alone) > 1 and alone[0] else set()
    listed = [False, *(is_alone and at not in opening | numbered.keys() for at, is_alone in enumerate(alone)), False]
    short = {at for at in range(len(alone) - 1) if listed[at : at + 3] == [False, True, False]}
    return dict.fromkeys(short, 2) | numbered | dict.fromkeys(opening if title is None else {title}, 1)


def reads_as_heading(line: str) -> bool:
    """Tell whether a separate line is short, starts like a title and lacks end punctuation."""
    line = line.strip()
    return (
        len(line) <= MAX_HEADING_CHARS
        and len(line.split()) <= MAX_HEADING_WORDS
        and (line[0].isupper() or line[0].isdigit())
        and line[-1] not in ".!?;:,"
        and any(sign.isalpha() for sign in line)
        and not ALIGNED.search(line)
    )


def _centred_title(paras: Sequence[Paragraph], margin: int) -> int | None:
    """Return the index of a centred title among the first paragraphs, if any."""
    if not margin:
        return None
    width = max((len(line) for para in paras[:100] for line in para.lines), default=0)
    for at, para in enumerate(paras[:TITLE_AMONG]):
        if len(para.lines) <= 3 and all(_is_centred(line, min(width, 80)) for line in para.lines):
            return at
    return None


def _is_centred(line: str, width: int) -> bool:
    middle = indent_of(line) + len(line.strip()) / 2
    return (
        indent_of(line) >= CENTRED_FROM
        and abs(middle - width / 2) <= width / 12
        and any(map(str.isalpha, line))
        and not ALIGNED.search(line.strip())
    )


def _depth(para: Paragraph, margin: int) -> int:
    """Count the numbers of a numbered heading (5.2 has two); 0 for other paragraphs.

    In a text without a margin one number may as well open an item, so there two are asked for.
    """
    match = _NUMBERED.match(para.lines[0])
    if match is None or para.indent > 0 or any(indent_of(line) == 0 for line in para.lines[1:]):
        return 0
    words = " ".join([match.group("words"), *(line.strip() for line in para.lines[1:])])
    depth = 1 + match.group("rest").count(".")
    is_title = len(words) <= MAX_HEADING_CHARS and words[0].isalnum() and words[-1] not in ".!?;,:"
    return depth if is_title and not ALIGNED.search(words) and (margin or depth > 1) else 0


def is_chapter(line: str, below: str) -> bool:
    number = _CHAPTER.match(line)
    return number is not None and reads_as_heading(line) and below.startswith(f"{number[1]}.1 ")


def level_above(lines: Sequence[str], width: int) -> int:
    """Return the level of the heading that *lines* begin with, above text that is indented below it; 0 without one.

    As in minutes ("2. Roof") and price lists ("TICKETS"): a short line with a number or in capitals.
    """
    first, *below = lines
    indented = bool(below) and all(indent_of(line) > indent_of(first) == 0 for line in below)
    if not indented or not below[0].lstrip()[0].isupper() or not reads_as_heading(first):
        return 0
    if LED.match(below[0]):
        return 2
    numbered = _NUMBERED.match(first)
    if 2 * len(first) > width or not (numbered or first.isupper()):
        return 0
    return 2 + numbered["rest"].count(".") if numbered else 2


def numbered_heads(paras: Sequence[Paragraph], width: int) -> frozenset[str]:
    """Return the lines that head the text right below them by a number, "2. Roof", where they count up from 1.

    Above them is a blank line, or the end of a sentence.
    """
    heads: list[str] = []
    for para in paras:
        for above, line, below in zip(["", *para.lines], para.lines, para.lines[1:], strict=False):
            is_short = _CHAPTER.match(line) and reads_as_heading(line) and 2 * len(line) <= width
            opens = below[0].isalnum() and not below[0].islower() and not _CHAPTER.match(below)
            if is_short and opens and _ENDS.search(above):
                heads.append(line)
    numbers = [int(number[1]) for line in heads if (number := _CHAPTER.match(line))]
    return frozenset(heads) if len(heads) > 1 and numbers == [*range(1, len(heads) + 1)] else frozenset()


def is_head(lines: Sequence[str], numbered: Container[str]) -> bool:
    """Whether the first of *lines* heads those below it: in capitals, or one of the *numbered* ones."""
    first, *below = lines
    in_capitals = first.isupper() and reads_as_heading(first) and bool(below) and not below[0].isupper()
    return bool(below) and (in_capitals or first in numbered)


def text_margin(paras: Sequence[Paragraph]) -> int:
    """Return the indent that most paragraphs share where headings stand left of them, else 0."""
    indents = Counter(para.indent for para in paras if len(para.lines) > 1)
    margin, count = indents.most_common(1)[0] if indents else (0, 0)
    outside = any(para.indent == 0 and len(para.lines) == 1 for para in paras)
    return margin if 2 <= margin < CENTRED_FROM and count >= 3 and outside else 0
