"""Find the tables of a PDF page, with rules or without, by the white space between their columns."""

import re
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from app.ingest.loaders.pdf_lines import Cells, Columns, Row, Segment, distances, wraps
from app.ingest.loaders.pdf_rows import Join, Rule, cell_text, logical_rows

MARKER = re.compile(
    r"(?:[^\w\s]|o|[\ue000-\uf8ff]|\[[x ]\]|\(?[0-9ivxlcIVXLC]{1,5}[.)]|\(?[A-Za-z][.)]"
    r"|(?:\d{1,2}|[A-Z])(?:\.\d{1,2})+\.?)$"
)
"""What stands before an item of a list, or before a heading."""
NEAR, ROOMY = 2.5, 5.0
"""Largest distance of two rows, in sizes of type, and of two that have the same columns."""


class Table(NamedTuple):
    """The cells of a table by rows, ``""`` where one is empty, and the horizontal extents of its columns."""

    cells: tuple[tuple[str, ...], ...]
    columns: tuple[tuple[float, float], ...]


def with_tables(region: Sequence[Row], join: Join, rules: Sequence[Rule]) -> list[Row | Table]:
    """Return the rows of a region; those that are a table's are one ``Table``."""
    found: list[Row | Table] = []
    at = 0
    while at < len(region):
        count = _band(region, at) if len(region[at]) > 1 else 0
        table = _table(region[at : at + count], join, rules) if count else None
        found.append(table or region[at])
        at += count if table else 1
    return found


def _band(region: Sequence[Row], start: int) -> int:
    """Return how many rows from *start* on respect the same columns."""
    columns: Columns = [(segment.left, segment.right) for segment in region[start]]
    last = start  # the last row that has several cells, or continues one
    at = start + 1
    while at < len(region) and _is_near(region, start, at):
        row = _fitted(region[at], columns)
        merged = _with_row(columns, row)
        if merged is None:
            break
        columns, above = merged, region[at - 1]
        if len(row) > 1 or row[0].left > columns[1][0] - 1 or (last == at - 1 and _continues(above, row, columns)):
            last = at
        at += 1
    return last - start + 1


def _is_near(region: Sequence[Row], start: int, at: int) -> bool:
    """Tell whether a row is no farther from the one above than a table's rows may be.

    The second row may stand farther off where all its cells are in columns of the first.
    """
    apart = region[at - 1][0].base - region[at][0].base
    if at - start == 1:
        columns = [(segment.left, segment.right) for segment in region[start]]
        several = min(len(region[start]), len(region[at])) > 1
        alike = several and len(_with_row(columns, region[at]) or ()) == len(columns)
        return apart <= (ROOMY if alike else NEAR) * region[at][0].size
    usual = median(distances(region[start:at]))
    return apart <= max(NEAR * region[at][0].size, 1.8 * usual)


def _fitted(row: Row, columns: Columns) -> Row:
    """Divide the segments of a row that lie in two columns: two cells with little space between them."""
    fitted: Row = []
    for segment in row:
        rest = segment
        for left, right in columns:
            for at, (before, word) in enumerate(pairwise(rest.words), 1):
                at_right = abs(rest.right - right) < 1 and before.right < left <= word.left
                aligned = abs(word.left - left) < 1 or at_right
                touched = sum(rest.left < end and rest.right > begin for begin, end in columns)
                if aligned and before.drawn != word.drawn and touched > 1:
                    fitted.append(Segment(rest.words[:at]))
                    rest = Segment(rest.words[at:])
                    break
        fitted.append(rest)
    return fitted


def _with_row(columns: Columns, row: Row) -> Columns | None:
    """Return the columns widened by a row, or with a new one; None where a segment lies in two of them."""
    for segment in row:
        begin, end = segment.left - 0.15 * segment.size, segment.right + 0.15 * segment.size
        touched = [(left, right) for left, right in columns if begin < right and end > left]
        if len(touched) > 1:
            return None
        left, right = touched[0] if touched else (segment.left, segment.right)
        columns = sorted({*columns} - {*touched} | {(min(left, segment.left), max(right, segment.right))})
    return columns if all(a[1] < b[0] for a, b in pairwise(columns)) else None


def _continues(above: Row, row: Row, columns: Columns) -> bool:
    column = columns[_column(row[0], columns)]
    upper = [segment for segment in above if segment.left < column[1] and segment.right > column[0]]
    return bool(upper) and wraps(upper[0], row[0], column[1])


def _column(segment: Segment, columns: Columns) -> int:
    return next(at for at, (left, right) in enumerate(columns) if left <= segment.left <= right)


def _table(band: Sequence[Row], join: Join, rules: Sequence[Rule]) -> Table | None:
    """Return the table that rows of common columns are; None where they are a list or text."""
    columns: Columns = []
    band = list(band)
    for at, row in enumerate(band):
        band[at] = _fitted(row, columns)
        columns = _with_row(columns, band[at]) or columns
    grid: list[Cells] = []
    for row in band:
        grid.append([[] for _ in columns])
        for segment in row:
            grid[-1][_column(segment, columns)].append(segment)
    grid, columns = _without_split_columns(grid, columns)
    several = sum(sum(map(bool, row)) > 1 for row in grid)
    if len(columns) < 2 or several < 2 or _is_list(grid):
        return None
    groups = logical_rows(grid, columns, rules)
    cells = tuple(tuple(cell_text([row[at] for row in group], join) for at in range(len(columns))) for group in groups)
    return Table(cells, tuple(columns)) if len(cells) > 1 else None


def _without_split_columns(grid: list[Cells], columns: Columns) -> tuple[list[Cells], Columns]:
    """Unite a column that has a heading alone with the one neighbour that has none: they are aligned differently."""
    at = 0
    while at + 1 < len(columns):
        filled = [[number for number, row in enumerate(grid) if row[column]] for column in (at, at + 1)]
        heading, cells = sorted(filled)
        if heading == [0] and cells[0] > 0 and len(cells) > 1 and sum(map(bool, grid[0])) == len(columns) - 1:
            grid = [[*row[:at], row[at] + row[at + 1], *row[at + 2 :]] for row in grid]
            columns = [*columns[:at], (columns[at][0], columns[at + 1][1]), *columns[at + 2 :]]
        else:
            at += 1
    return grid, columns


def _is_list(grid: Sequence[Cells]) -> bool:
    """Tell whether two columns are the marks and the texts of a list's items."""
    first = [row[0][0].text for row in grid if row[0]]
    return len(grid[0]) == 2 and sum(bool(MARKER.match(text)) for text in first) > 0.5 * len(first)
