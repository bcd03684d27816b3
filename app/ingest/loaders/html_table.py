"""Read HTML tables: rows whose cells may stand in several columns and rows, or labels, each with its value."""

from collections import Counter
from collections.abc import Iterator

from bs4 import Tag

from app.ingest.loaders.header_rows import entry_line, one_header, opens_with_quantity
from app.ingest.loaders.html_content import inline_text
from app.ingest.loaders.outline import number_of

MAX_SPANNED = 50  # most columns or rows that one cell of a table stands in


def rows_of(table: Tag) -> list[list[str]]:
    """Return the rows of a table below one header, which may be of two rows.

    A cell of several columns or rows, but not of a whole line, stands in each of them.
    """
    rows = list(_spread(table))
    above = next((at for at, row in enumerate(rows) if len(row) > 1), 0)
    return [*rows[:above], *one_header(rows[above:])]


def _spread(table: Tag) -> Iterator[list[str]]:
    held: dict[int, tuple[str, int]] = {}  # column -> text from above, and for how many rows
    for row in table.find_all("tr"):
        tags = row.find_all(("th", "td"))
        cells = [
            (inline_text(tag), _spanned(tag, "rowspan"))
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
    return min(max(number_of(str(cell.get(attribute, ""))), 1), MAX_SPANNED)


def pairs_of(table: Tag) -> str:
    """Return the rows as a list ``- Label: value``; "" where the first row may be a header.

    It is none where each label is a ``th`` beside a ``td``, or ends with a colon, or the first value is a quantity.
    A cell over the whole row is an item of its own.
    """
    rows = [row.find_all(("th", "td")) for row in table.find_all("tr")]
    if any(len(cells) > 2 or any(cell.has_attr("rowspan") for cell in cells) for cells in rows):
        return ""
    kinds = {(cells[0].name, cells[1].name) for cells in rows if len(cells) == 2}
    texts = _texts(table)
    if kinds != {("th", "td")} and not (kinds == {("td", "td")} and _have_no_header(texts)):
        return ""
    lines = (entry_line(*cells) if len(cells) == 2 else " ".join(cells) for cells in texts if any(cells))
    return "\n".join(f"- {line}" for line in lines)


def _have_no_header(rows: list[list[str]]) -> bool:
    """Tell whether rows of two unmarked cells begin with a value: a header names it, or says a year."""
    pairs = [cells for cells in rows if len(cells) == 2]
    if all(label.endswith(":") for label, _ in pairs):
        return True
    label, value = pairs[0]
    return bool(label) and len(rows[0]) == 2 and opens_with_quantity(value)


def _texts(table: Tag) -> list[list[str]]:
    """Return the words of each cell, by rows."""
    rows = table.find_all("tr")
    return [[" ".join(inline_text(cell).split()) for cell in row.find_all(("th", "td"))] for row in rows]


def write_nested(root: Tag) -> None:
    """Make text of a table in a cell of a table with a header: ``Projector: 2; Screen: 1``.

    A header has two names or more in a row. A table without one that holds others arranges a page.
    """
    rows = Counter((id(name.find_parent("table")), id(name.parent)) for name in root.find_all("th"))
    headed = {table for (table, _), names in rows.items() if names > 1}
    for table in reversed(root.find_all("table") if headed else ()):
        if id(table.find_parent("table")) in headed:
            lines = (": ".join(filter(None, cells)) for cells in _texts(table))
            table.replace_with(f" {'; '.join(filter(None, lines))} ")
