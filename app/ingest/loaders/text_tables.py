"""Find the tables of plain text: drawn with bars, with tabs, or with columns that spaces part."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice, pairwise
from statistics import mean

from app.ingest.loaders.header_rows import filled, has_digit, is_numeric, opens_with_quantity
from app.ingest.loaders.outline import indent_of

_RULE = re.compile(r"[\s|+:]*[-=_]{2}[\s|+:=_-]*")
_GAP = re.compile(r"\S(?:\s{2,}|\t)\S")
MIN_GAP = 2  # spaces that part two columns in every line
MIN_INDENT = 4  # spaces before what goes on in another column than the first
MIN_ROWS = 3  # rows of a table without a rule below its header, that one included
PROSE_CHARS = 18  # mean length of the lines of text set in columns, at the least
Part = tuple[list[str], list[list[str]]]
"""Lines that are no table, or the rows of one."""


def parts_of(lines: Sequence[str]) -> Iterator[Part]:
    """Yield the lines of a paragraph in parts: a table, with its header first, and what stands above and below it.

    Of text in two columns the left one comes first. A paragraph without either is one part.
    """
    start, end = _widest(lines)
    within = lines[start:end]
    rows = _by_bars(within) or _by_tabs(within) or _by_spaces(within)
    columns = [] if rows else _columns_of_prose(within)
    if not rows and not columns:
        yield list(lines), []
        return
    if start:
        yield list(lines[:start]), []
    if rows:
        yield [], rows
    yield from ((column, []) for column in columns)
    if end < len(lines):
        yield list(lines[end:]), []


def _widest(lines: Sequence[str]) -> tuple[int, int]:
    """Return where the longest run of lines with columns, or of rules, begins and ends."""
    best = (0, 0)
    at = 0
    for has_columns, run in groupby(lines, key=_may_be_row):
        length = len([*run])
        if has_columns and length > best[1] - best[0]:
            best = (at, at + length)
        at += length
    return best


def _may_be_row(line: str) -> bool:
    """Whether a line has a gap or a bar, is a rule, or goes on in a column that is not the first."""
    return bool(_is_rule(line) or "|" in line or _GAP.search(line)) or indent_of(line) >= MIN_INDENT


def _is_rule(line: str) -> bool:
    return bool(_RULE.fullmatch(line))


def _by_bars(lines: Sequence[str]) -> list[list[str]]:
    """Return the cells of rows with bars; of a grid, with rules between all rows, the lines of a row are joined."""
    ruled = [_is_rule(line) for line in lines]
    content = [line.strip() for line, is_rule in zip(lines, ruled, strict=True) if not is_rule]
    framed = all(line.startswith("|") and line.endswith("|") for line in content)
    below_header = len(ruled) > 1 and ruled[1]
    if len(content) < (2 if any(ruled) else MIN_ROWS) or not (framed or below_header):
        return []
    inner = [line.removeprefix("|").removesuffix("|") if framed else line for line in content]
    split = [[cell.strip() for cell in line.split("|")] for line in inner]
    if len(split[0]) < 2 or len({*map(len, split)}) > 1:
        return []
    lengths = [len([*run]) for is_rule, run in groupby(ruled) if not is_rule]
    if len(lengths) < MIN_ROWS:
        return split
    waiting = iter(split)
    grid = [[*islice(waiting, length)] for length in lengths]
    return [[" ".join(filter(None, column)) for column in zip(*row, strict=True)] for row in grid]


def _by_tabs(lines: Sequence[str]) -> list[list[str]]:
    """Return the cells of lines that tabs part into as many columns each, below a row that names them."""
    rows = [[cell.strip() for cell in re.split("\t+", line.strip())] for line in lines if not _is_rule(line)]
    same = len({len(row) for row in rows}) == 1 and len(rows) >= MIN_ROWS and len(rows[0]) > 1
    return rows if same and _is_table(rows, ruled=False) else []


def _by_spaces(lines: Sequence[str]) -> list[list[str]]:
    """Return the cells of lines whose columns are parted by spaces in every line, below a row that names them.

    A line with nothing in its first column goes on with the row above it.
    """
    rows: list[list[str]] = []
    for line, cells in zip(lines, _cut(lines), strict=True):
        if _is_rule(line):
            continue
        if rows and not cells[0] and filled(cells) == 1:
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], cells, strict=True)]
        else:
            rows.append(cells)
    ruled = len(lines) > 1 and _is_rule(lines[1])
    return rows if _is_table(rows, ruled=ruled) else []


def _cut(lines: Sequence[str]) -> list[list[str]]:
    """Return *lines* cut where ``MIN_GAP`` columns or more are blank in all of them."""
    lines = [line.expandtabs() for line in lines]
    width = max(map(len, lines), default=0)
    blank = [all(line[at : at + 1] in ("", " ") for line in lines) for at in range(width)]
    inked = [at for at, is_blank in enumerate(blank) if not is_blank]
    starts = [0, *(below for above, below in pairwise(inked) if below - above > MIN_GAP)]
    return [[line[start:end].strip() for start, end in pairwise([*starts, max(width, 1)])] for line in lines]


def _is_table(rows: Sequence[Sequence[str]], *, ruled: bool) -> bool:
    """Whether *rows* are those of a table: its first names the columns, and most cells are filled."""
    if len(rows) < (2 if ruled else MIN_ROWS) or len(rows[0]) < 2:
        return False
    header, *data = rows
    if not all(header[1:]) or any(not row[0] or filled(row) < 2 for row in data):
        return False
    if ruled or (len(header) == 2 and opens_with_quantity(header[1])):
        return True
    names = not any(map(has_digit, header)) and len(set(header)) == len(header)
    return names and (len(header) > 2 or is_numeric(data, 1) or all(cell.isupper() for cell in header))


def _columns_of_prose(lines: Sequence[str]) -> list[list[str]]:
    """Return the two columns of running text that *lines* show beside each other; nothing of other lines."""
    cut = _cut(lines)
    if len(cut) < MIN_ROWS or len(cut[0]) != 2:
        return []
    columns = [[cell for cell in column if cell] for column in zip(*cut, strict=True)]
    runs = all(
        len(column) > 1
        and mean(map(len, column)) >= PROSE_CHARS
        and 2 * sum(line[0].islower() for line in column[1:]) >= len(column) - 1
        for column in columns
    )
    return columns if runs else []
