"""Rows of an HTML table whose cells may stand in several columns and rows."""

from collections.abc import Callable, Iterator

from bs4 import Tag

from app.ingest.loaders.header_rows import one_header

MAX_SPANNED = 50
"""Most columns or rows that one cell of a table stands in."""


def rows_of(table: Tag, text_of: Callable[[Tag], str]) -> list[list[str]]:
    """Return the rows of a table below one header, which may be of two rows.

    A cell of several columns or rows, but not of a whole line, stands in each of them.
    """
    rows = list(_spread(table, text_of))
    above = next((at for at, row in enumerate(rows) if len(row) > 1), 0)
    return [*rows[:above], *one_header(rows[above:])]


def _spread(table: Tag, text_of: Callable[[Tag], str]) -> Iterator[list[str]]:
    held: dict[int, tuple[str, int]] = {}  # column -> text from above, and for how many rows
    for row in table.find_all("tr"):
        tags = row.find_all(("th", "td"))
        cells = [
            (text_of(tag), _spanned(tag, "rowspan"))
            for tag in reversed(tags)
            for _ in range(_spanned(tag, "colspan") if held or len(tags) > 1 else 1)
        ]
        above, held = held, {}
        texts: list[str] = []
        while cells or len(texts) in above:
            text, rows = above[len(texts)] if len(texts) in above else cells.pop()
            if rows > 1:
                held[len(texts)] = text, rows - 1
            texts.append(text)
        yield texts


def _spanned(cell: Tag, attribute: str) -> int:
    """Return how many columns or rows a cell stands in."""
    value = str(cell.get(attribute, ""))
    return min(max(int(value), 1), MAX_SPANNED) if value.isdecimal() and len(value) < 10 else 1
