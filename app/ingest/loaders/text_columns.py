"""Read running text that is set in two columns, as newsletters are, one column after the other."""

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import mean

from app.ingest.loaders.outline import grouped, indent_of
from app.ingest.loaders.text_lines import ITEM, LineJoiner, joined_lines

_GAP = re.compile(r"\S {3,}\S")
MAX_INDENT = 8  # spaces before a line that is centred above the columns
MAX_WIDTH = 300  # longest line that is looked at
FULL = 0.6  # share of a column's width from which a line goes on in the next
GUTTER = 3  # blank columns between the two, in every line
ENTRIES = 0.7  # share of the lines with a capital in one column that have one in both, in a table
MIN_LINES = 4  # lines of a column, at the least
MIN_CHARS = 18  # mean length of the lines of a column, at the least
GOES_ON = 0.35
"""Least share of the lines that open with a small letter, as sentences do that go on; half of it in each column."""


def columns_apart(lines: Sequence[str]) -> list[str]:
    """Return the lines of a page, with those of a left column before those of the right one beside it.

    Blank lines stay where they are in their column. In time linear in the lines, whatever they are.
    """
    kept: list[str] = []
    start = 0
    while start < len(lines):
        end, gutter = _block(lines, start)
        block = [line.expandtabs() for line in lines[start:end]]
        left, right = [line[:gutter].rstrip() for line in block], [line[gutter:].rstrip() for line in block]
        if gutter and _are_prose(left, right) and not _are_entries(left, right):
            kept += [*_unwrapped(left), "", *_unwrapped(right), ""]
        else:
            kept += lines[start:end]
        start = end
    return kept


def _block(lines: Sequence[str], start: int) -> tuple[int, int]:
    """Return where the lines from *start* on end that share a gutter, and the column after it, 0 without one."""
    shared, width, gutter = -1, 0, 0
    for at in range(start, len(lines)):
        line = lines[at].expandtabs() if len(lines[at]) <= MAX_WIDTH else ""
        if lines[at] and not line:  # too long to be of a column
            return max(at, start + 1), gutter
        if at == start and (indent_of(line) >= MAX_INDENT or not _GAP.search(line)):
            return start + 1, 0
        width = max(width, len(line))
        shared &= sum(1 << column for column, sign in enumerate(line) if sign == " ") | (-1 << len(line))
        found = _gutter(shared, width)
        if line.strip() and not found:
            return max(at, start + 1), gutter
        gutter = found or gutter
    return len(lines), gutter


def _gutter(blank: int, width: int) -> int:
    """Return where the widest run of *blank* columns ends that has text on both sides; 0 without one of ``GUTTER``."""
    inked = [column for column in range(width) if not blank >> column & 1]
    gaps = [(after - before - 1, after) for before, after in pairwise(inked)]
    widest, end = max(gaps, default=(0, 0))
    return end if widest >= GUTTER else 0


def _unwrapped(column: Sequence[str]) -> list[str]:
    """Return the paragraphs of *column*, each on a line: its lines are short beside those of the rest of the text."""
    joiner = LineJoiner(column)
    full = FULL * max(map(len, column))

    def goes_on(above: list[str], line: str) -> bool:
        return bool(line.strip()) and len(above[-1]) >= full and not ITEM.match(line)

    return [joined_lines(lines, joiner) for lines in grouped(column, goes_on)]


def _are_entries(left: Sequence[str], right: Sequence[str]) -> bool:
    """Whether what begins within a column mostly begins in both: rows of a table, with wrapped cells."""
    lines = [*zip(left, right, strict=True)]
    within = [two for one, two in pairwise(lines) if all(map(str.strip, (*one, *two)))]
    begins = [[line.lstrip()[0].isupper() for line in two] for two in within]
    both = sum(map(all, begins))
    return both > 1 and both >= ENTRIES * sum(map(any, begins))


def _are_prose(*columns: Sequence[str]) -> bool:
    """Whether the lines of each column are long enough for running text, and most of its sentences go on below."""
    texts = [[line for line in column if line.strip()] for column in columns]
    going_on = [sum(line.lstrip()[0].islower() for line in lines) for lines in texts]
    return (
        all(len(lines) >= MIN_LINES and mean(map(len, lines)) >= MIN_CHARS for lines in texts)
        and all(count >= GOES_ON / 2 * len(lines) for count, lines in zip(going_on, texts, strict=True))
        and sum(going_on) >= GOES_ON * sum(map(len, texts))
    )
