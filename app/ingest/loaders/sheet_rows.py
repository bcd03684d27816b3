"""Add the rows of a spreadsheet to an outline: what stands above the header as paragraphs, the rest as a table."""

from collections.abc import Iterable, Sequence

from app.ingest.loaders.outline import Outline, table_text

MAX_ABOVE = 20
"""Rows among which the header is looked for below a blank row."""


def header_index(rows: Sequence[Sequence[str]]) -> int:
    """Return which row is the header: the first of two or more filled cells, and of more than half the most in a row.

    What stands above a blank row is none where a row below that is fuller: it tells of the table.
    """
    filled = [sum(map(bool, map(str.strip, row))) for row in rows]
    most = max(filled, default=0)
    start = 0
    for at in range(min(len(filled), MAX_ABOVE)):
        if not filled[at] and max(filled[:at], default=0) < most:
            start = at + 1
    found = (at for at in range(start, len(filled)) if filled[at] > 1 and 2 * filled[at] > most)
    return next(found, next((at for at, count in enumerate(filled) if count), 0))


def add_rows(outline: Outline, rows: Iterable[Sequence[str]], name: str = "") -> None:
    """Add rows as one table below the heading ``name``; rows above its header are paragraphs.

    Blank rows and columns are left out.
    """
    rows = list(rows)
    header = header_index(rows)
    above, below = ([row for row in part if any(map(str.strip, row))] for part in (rows[:header], rows[header:]))
    if below:
        outline.heading(1, name)
    for row in above:
        outline.add(" ".join(" ".join(row).split()))
    filled = sorted({at for row in below for at, cell in enumerate(row) if cell.strip()})
    outline.add(table_text([row[at] for at in filled if at < len(row)] for row in below), "table")
