"""Add the rows of a spreadsheet to an outline: what stands above the header as paragraphs, the rest as a table."""

from collections.abc import Iterable, Sequence

from app.ingest.loaders.header_rows import one_header
from app.ingest.loaders.outline import Outline, table_text
from app.ingest.loaders.sheet_parts import filled, filled_down, stacked

MAX_ABOVE = 20
"""Rows among which the header is looked for below a blank row."""


def header_index(rows: Sequence[Sequence[str]]) -> int:
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


def add_rows(outline: Outline, rows: Iterable[Sequence[str]], name: str = "") -> None:
    """Add rows as tables below the heading ``name``, each with one header; rows above it are paragraphs.

    Blank rows and columns are left out.
    """
    rows = list(rows)
    if any(map(filled, rows)):
        outline.heading(1, name)
    for part in stacked(rows):
        _add_table(outline, part)


def _add_table(outline: Outline, rows: Sequence[Sequence[str]]) -> None:
    header = header_index(rows)
    if header and filled(rows[header - 1]) > 1 and len(one_header(rows[header - 1 :])) < len(rows) - header + 1:
        header -= 1  # the upper of two header rows, with fewer cells
    above, below = ([row for row in part if filled(row)] for part in (rows[:header], rows[header:]))
    for row in above:
        outline.add(" ".join(" ".join(row).split()))
    if below:
        columns = sorted({at for row in below for at, cell in enumerate(row) if cell.strip()})
        table = one_header([[row[at] for at in columns if at < len(row)] for row in below])
        outline.add(table_text(filled_down(table)), "table")
