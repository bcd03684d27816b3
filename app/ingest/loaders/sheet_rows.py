"""Add the rows of a spreadsheet to an outline: its tables, with what stands above their headers as paragraphs."""

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile

from app.ingest.loaders.header_rows import (
    TOTAL_NAMES,
    entry_line,
    filled,
    has_digit,
    is_numeric,
    labelled_entries,
    one_header,
)
from app.ingest.loaders.outline import Outline, table_block

MAX_ABOVE = 20  # rows among which the header is looked for below a blank row
WIDE_GAP = 2  # a blank column may be one of the table; more are none
MAX_COMPARED = 100  # rows above a header that are looked at, and rows below it
_TOTAL = re.compile(TOTAL_NAMES, re.IGNORECASE)
Row = Sequence[str]


def header_index(rows: Sequence[Row]) -> int:
    """Return which row is the header: the first of two or more filled cells, and of more than half the most in a row.

    What stands above a blank row is none where a row below that is fuller: it tells of the table.
    """
    counts = list(map(filled, rows))
    most = max(counts, default=0)
    start = 0
    for at in range(min(len(counts), MAX_ABOVE)):
        if not counts[at] and max(counts[:at], default=0) < most:
            start = at + 1
    found = (at for at in range(start, len(counts)) if counts[at] > 1 and 2 * counts[at] > most)
    return next(found, next((at for at, count in enumerate(counts) if count), 0))


def add_rows(outline: Outline, rows: Sequence[Row], name: str = "") -> None:
    """Add rows as tables below the heading ``name``, each with one header; rows above it are paragraphs.

    Blank rows and columns are left out.
    """
    if any(map(filled, rows)):
        outline.heading(1, name)
    for part in stacked(rows):
        tables = beside(part)
        if boxes := _boxes(tables):
            outline.add(boxes, "list")
            continue
        for table in tables:
            for lower in stacked(table) if len(tables) > 1 else (part,):
                _add_table(outline, lower)


def _add_table(outline: Outline, rows: Sequence[Row]) -> None:
    header = header_index(rows)
    if header and filled(rows[header - 1]) > 1 and len(one_header(rows[header - 1 :])) < len(rows) - header + 1:
        header -= 1  # the upper of two header rows, with fewer cells
    above, below = ([row for row in part if filled(row)] for part in (rows[:header], rows[header:]))
    for row in above:
        outline.add(" ".join(" ".join(row).split()))
    if below:
        columns = sorted({at for row in below for at, cell in enumerate(row) if cell.strip()})
        table = one_header([[row[at] if at < len(row) else "" for at in columns] for row in below])
        outline.add(*table_block(filled_down(table)))


def stacked(rows: Sequence[Row]) -> list[Sequence[Row]]:
    """Return the tables that stand below each other, each with the rows above it; all rows where there is one.

    The next table begins at a blank row, or at a row of one cell (its title), above a row that is surely a header.
    """
    tables: list[Sequence[Row]] = []
    start = 0
    gap = 0  # first row of the blank rows and rows of one cell above the present one
    for at, row in enumerate(rows):
        if filled(row) < 2:
            continue
        between = rows[gap:at]
        if between and _names_columns(rows, at) and _begins_table(rows[start:gap][:MAX_COMPARED], between, rows, at):
            blank = next((n for n, above in enumerate(between) if not filled(above)), len(between) - 1)
            tables.append(rows[start : gap + blank])
            start = gap + blank
        gap = at + 1
    return [*tables, rows[start:]]


def beside(rows: Sequence[Row]) -> list[Sequence[Row]]:
    """Return the tables that stand beside each other, parted by blank columns; all rows where there is one.

    Each has two columns and two rows at the least, and no gap. They are tables of their own where each has a title
    above it, where one has rows that the first has not, where the first columns of two are named alike, where they are
    labels with their values, or where more than ``WIDE_GAP`` blank columns are between them.
    """
    inked = sorted({at for row in rows if filled(row) > 1 for at, cell in enumerate(row) if cell.strip()})
    gaps = [(left, right) for left, right in pairwise(inked) if right - left > 1]
    if not gaps:
        return [rows]
    starts = [0, *(right for _, right in gaps)]
    ends = [*starts[1:], max(map(len, rows))]
    tables: list[Sequence[Row]] = [[row[start:end] for row in rows] for start, end in zip(starts, ends, strict=True)]
    filled_rows = [{at for at, row in enumerate(table) if filled(row) > 1} for table in tables]
    if any(len(found) < 2 or max(found) - min(found) >= len(found) for found in filled_rows):
        return [rows]
    keys = [table[min(found)][0] for table, found in zip(tables, filled_rows, strict=True)]
    are_apart = (
        all(right - left > WIDE_GAP for left, right in gaps)
        or any(not found <= filled_rows[0] for found in filled_rows[1:])
        or len({*keys}) < len(keys)
        or all(map(_has_title, tables, filled_rows))
        or bool(_boxes(tables))
    )
    return tables if are_apart else [rows]


def _has_title(table: Sequence[Row], found: set[int]) -> bool:
    """Whether one cell stands alone above the *found* rows of *table*."""
    return any(filled(row) == 1 for row in table[: min(found)])


def _boxes(tables: Sequence[Sequence[Row]]) -> str:
    """Return labels and their values in boxes beside each other as one list; "" for other tables.

    Where one box has no header, none has.
    """
    pairs = [[[cell for cell in row if cell.strip()] for row in table if any(map(str.strip, row))] for table in tables]
    if len(tables) < 2 or any(len(pair) != 2 for table in pairs for pair in table):
        return ""
    if not any(map(labelled_entries, pairs)):
        return ""
    return "\n".join(f"- {entry_line(*pair)}" for table in pairs for pair in table)


def _names_columns(rows: Sequence[Row], at: int) -> bool:
    """Tell whether a row may name columns: words, all different, none missing, with digits below one of them."""
    cells = [cell.strip() for cell in rows[at] if cell.strip()]
    below = _until_gap(rows, at + 1)
    return (
        bool(below)
        and len(set(cells)) == len(cells)
        and not any(map(has_digit, cells))
        and len(cells) >= max(map(filled, below))
        and bool(_numeric(below))
    )


def _begins_table(above: Sequence[Row], between: Sequence[Row], rows: Sequence[Row], at: int) -> bool:
    """Tell whether a row that may name columns does so, and is no row of the table above it.

    It has a name from the header above, or other columns of numbers are below it, or a title above it and two of them.
    A list of names and values above a table, as an export writes it, is none: it has two columns, fewer than the table.
    """
    head = next((n for n, row in enumerate(above) if filled(row) > 1 and not any(map(has_digit, row))), len(above))
    data = [row for row in above[head + 1 :] if filled(row) > 1]
    if head == len(above):  # labels with their values, without a header
        return sum(filled(row) > 1 for row in above) > 1 and not all(map(filled, between))
    if not data or filled(above[head]) < min(3, filled(rows[at])):
        return False
    cells = set(_placed(rows[at]))
    if any(not cells.isdisjoint(_placed(row)) for row in data):
        return False
    numbers = _numeric(_until_gap(rows, at + 1))
    has_title = any(map(filled, between)) and len(numbers) > 1
    return has_title or numbers != _numeric(data) or not cells.isdisjoint(_placed(above[head]))


def _placed(row: Row) -> list[tuple[int, str]]:
    return [(column, cell.strip()) for column, cell in enumerate(row) if cell.strip()]


def _numeric(rows: Sequence[Row]) -> set[int]:
    """Return the columns of numbers."""
    return {column for column in range(max(map(len, rows), default=0)) if is_numeric(rows, column)}


def _until_gap(rows: Sequence[Row], start: int) -> list[Row]:
    """Return the rows from *start* up to a blank one or one of one cell."""
    return list(takewhile(lambda row: filled(row) > 1, rows[start : start + MAX_COMPARED]))


def filled_down(rows: Sequence[Row]) -> list[Row]:
    """Return a table whose rows all have the name of their group, where only the first row of a group has it.

    Groups are two or more, each named once and over two rows on average, and each row has a second cell. A row of
    totals is of no group; where another row without a name is mostly empty, nothing is filled.
    """
    header, *data = rows
    members = [row for row in data if not _is_total(row)]
    named = [row[0].strip() for row in members if row and row[0].strip()]
    unnamed = [row for row in members if not (row and row[0].strip())]
    is_grouped = (
        bool(data and header[0].strip() and data[0] and data[0][0].strip())
        and 1 < len(named) <= len(unnamed)
        and len(set(named)) == len(named)
        and all(_is_member(row, len(header)) for row in unnamed)
    )
    if not is_grouped:
        return list(rows)
    written: list[Row] = [header]
    name = ""
    for row in data:
        name = row[0].strip() or name
        written.append(row if _is_total(row) else [name, *row[1:]])
    return written


def _is_member(row: Row, width: int) -> bool:
    """Tell whether a row without the name of a group may be one of it."""
    others = row[1:]
    return bool(others and others[0].strip()) and 2 * filled(others) >= width - 1


def _is_total(row: Row) -> bool:
    return any(_TOTAL.fullmatch(cell.strip()) for cell in row)
