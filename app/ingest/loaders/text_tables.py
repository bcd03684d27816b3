"""Find the tables of plain text: drawn with bars, with tabs, or with columns that spaces part."""

import re
from collections.abc import Iterator, Sequence
from itertools import groupby, islice, pairwise

from app.ingest.loaders.header_rows import entry_line, filled, has_digit, is_numeric, opens_with_quantity
from app.ingest.loaders.outline import indent_of

_RULE = re.compile(r"[\s|+:]*[-=_]{2}[\s|+:=_-]*")
_GAP = re.compile(r"\S(?:\s{2,}|\t)\S")
_MARKED = re.compile(r"\s*(?:[-*+•‣◦]|\(?\w{1,3}[.)])\s")
MAX_WIDTH = 300  # longest line of a table
MIN_GAP = 2  # spaces that part two columns in every line
MIN_INDENT = 4  # spaces before what goes on in another column than the first
MIN_ROWS = 3  # rows of a table without a rule below its header, that one included
MAX_GROUP_CHARS = 40  # longest name of a group of rows
Part = tuple[list[str], list[list[str]]]
"""Lines that are no table, or the rows of one."""


def parts_of(lines: Sequence[str]) -> Iterator[Part]:
    """Yield the lines of a paragraph in parts: a table, with its header first, and what stands above and below it.

    The rows of a table without a header are items of a list: ``- Key cutting: mortice, £7``.
    """
    start, end = _widest(lines)
    within = lines[start:end]
    items = sum(bool(_MARKED.match(line)) for line in within)
    if 2 * items >= max(1, len(within)) or any(len(line) > MAX_WIDTH for line in within):
        yield list(lines), []
        return
    framed = _by_bars(within) or _pairs(within)
    rows = framed or _by_tabs(within) or _by_spaces(within)
    if not rows:
        yield list(lines), []
        return
    yield list(lines[:start]), []
    if framed or _has_header(rows, ruled=len(within) > 1 and _is_rule(within[1])):
        yield [], rows
    else:
        yield [f"- {entry_line(row[0], ', '.join(filter(None, row[1:])))}" for row in rows], []
    yield list(lines[end:]), []


def _widest(lines: Sequence[str]) -> tuple[int, int]:
    """Return where the longest run of lines with columns, or of rules, begins and ends."""
    rows = [_may_be_row(line) for line in lines]
    for at in range(1, len(lines) - 1):
        names_group = len(lines[at]) <= MAX_GROUP_CHARS and not lines[at].rstrip().endswith((".", ":"))
        rows[at] |= names_group and rows[at - 1] and rows[at + 1]
    best = (0, 0)
    at = 0
    for has_columns, run in groupby(rows):
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
    """Return the cells of rows with bars; of a grid, with rules between its rows, the lines of a row are joined."""
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
    waiting = iter(split)
    grid = [[*islice(waiting, length)] for length in lengths]
    if len(grid) < MIN_ROWS or any(all(cells) for row in grid for cells in row[1:]):  # a line of full cells is a row
        return split
    return [[" ".join(filter(None, column)) for column in zip(*row, strict=True)] for row in grid]


def _by_tabs(lines: Sequence[str]) -> list[list[str]]:
    """Return the cells of lines that tabs part into as many columns each."""
    for tabs in ("\t", "\t+"):
        rows = [[cell.strip() for cell in re.split(tabs, line.rstrip())] for line in lines if not _is_rule(line)]
        if len({*map(len, rows)}) == 1:
            return rows if _are_rows(rows) else []
    return []


def _by_spaces(lines: Sequence[str]) -> list[list[str]]:
    """Return the cells of lines whose columns are parted by spaces in every line.

    A line with nothing in its first column goes on with the row above it, but for one below a rule; where all its other
    columns are filled, it is a row of the same group.
    """
    rows: list[list[str]] = []
    below_rule = True
    if any("|" in line for line in lines):
        return []
    for line, cells in zip(lines, _cut(lines), strict=True):
        if _is_rule(line):
            below_rule = True
            continue
        is_full = len(cells) > 2 and all(cells[1:]) and (len(rows) > 1 or any(map(has_digit, cells)))
        if cells[0] or below_rule:
            rows.append(cells)
        elif is_full:
            rows.append([rows[-1][0], *cells[1:]])
        else:
            rows[-1] = [" ".join(filter(None, pair)) for pair in zip(rows[-1], cells, strict=True)]
        below_rule = False
    return rows if _are_rows(rows, least=2 if len(lines) > 1 and _is_rule(lines[1]) else MIN_ROWS) else []


def _cut(lines: Sequence[str]) -> list[list[str]]:
    """Return *lines* cut where a rule is, or else where ``MIN_GAP`` columns or more are blank in all of them.

    A line without a gap, which names a group, is its first cell. Where a word would be cut, nothing is.
    """
    lines = [line.expandtabs() for line in lines]
    width = max(map(len, lines), default=0)
    parts = max(([*re.finditer(r"\S+", line)] for line in lines if _is_rule(line)), key=len, default=[])
    if len(parts) > 1:
        starts = [0, *(part.start() for part in parts[1:])]
    else:
        text = [line for line in lines if not _is_rule(line) and (_GAP.search(line) or not line[:1].strip())]
        blank = [all(line[at : at + 1] in ("", " ") for line in text) for at in range(width)]
        inked = [at for at, is_blank in enumerate(blank) if not is_blank]
        starts = [0, *(below for above, below in pairwise(inked) if below - above > MIN_GAP)]
    spans = [*pairwise([*starts, max(width, 1)])]
    single = [bool(line[:1].strip()) and not (_GAP.search(line) or _is_rule(line)) for line in lines]
    cells = [line for line, is_single in zip(lines, single, strict=True) if not (is_single or _is_rule(line))]
    if any(line[at - 1 : at].strip() and line[at : at + 1].strip() for line in cells for at in starts[1:]):
        return [[line.strip()] for line in lines]
    return [
        [line.strip(), *[""] * (len(spans) - 1)] if is_single else [line[start:end].strip() for start, end in spans]
        for line, is_single in zip(lines, single, strict=True)
    ]


def _are_rows(rows: Sequence[Sequence[str]], least: int = MIN_ROWS) -> bool:
    """Whether *rows* are those of a table: most of them have two cells, and the others name a group."""
    if len(rows) < least or len(rows[0]) < 2:
        return False
    full = [row for row in rows[1:] if filled(row) > 1]
    return 2 * len(full) > len(rows) - 1 and all(row[0] for row in rows[1:] if row not in full)


def _has_header(rows: Sequence[Sequence[str]], *, ruled: bool) -> bool:
    """Whether the first of *rows* names the columns: above a rule, or by words that the columns do not hold.

    A price beside its label names none, and is a row of a list all the same (``table_block``).
    """
    header, *data = rows
    full = [row for row in data if filled(row) > 1]
    if (ruled and all(header[1:])) or (len(header) == 2 and opens_with_quantity(header[1])):
        return True
    names = all(cell and (not has_digit(cell) or not is_numeric(full, at)) for at, cell in enumerate(header) if at)
    names &= len(set(header)) == len(header)
    return names and (len(header) > 2 or is_numeric(full, 1) or all(cell.isupper() for cell in header))


def _pairs(lines: Sequence[str]) -> list[list[str]]:
    """Return labels with their values, "Carrier:   Polar   Date:   18 April", each pair as a row."""
    split = [re.split(r"\s{2,}|\t", line.strip()) for line in lines]
    if len(split) < 2 or any(len(parts) % 2 or not all(p.endswith(":") for p in parts[::2]) for parts in split):
        return []
    return [parts[at : at + 2] for parts in split for at in range(0, len(parts), 2)]
