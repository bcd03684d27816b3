"""Read an HTML table of two columns without a header row as what it is: labels, each with its value."""

import re

from bs4 import Tag

from app.ingest.loaders.html_content import inline_text

_QUANTITY = re.compile(r"(?:[€$£]|[A-Z]{3})? ?\d")
_YEAR = re.compile(r"(?:1[89]|20)\d\d")


def pairs_of(table: Tag) -> str:
    """Return the rows as a list ``- Label: value``; "" where the first row may be a header.

    It is none where each label is a ``th`` beside a ``td``, or ends with a colon, or the first value is a quantity.
    A cell over the whole row is an item of its own.
    """
    rows = [row.find_all(("th", "td")) for row in table.find_all("tr")]
    pairs = [cells for cells in rows if len(cells) == 2]
    if not pairs or any(len(cells) > 2 or any(cell.has_attr("rowspan") for cell in cells) for cells in rows):
        return ""
    kinds = {(label.name, value.name) for label, value in pairs}
    texts = [[" ".join(inline_text(cell).split()) for cell in cells] for cells in rows]
    if kinds != {("th", "td")} and not (kinds == {("td", "td")} and _have_no_header(texts)):
        return ""
    return "\n".join(f"- {_line(cells)}" for cells in texts if any(cells))


def _have_no_header(rows: list[list[str]]) -> bool:
    """Tell whether rows of two unmarked cells begin with a value: a header names it, or says a year."""
    pairs = [cells for cells in rows if len(cells) == 2]
    if all(label.endswith(":") for label, _ in pairs):
        return True
    label, value = pairs[0]
    return bool(label and len(rows[0]) == 2 and _QUANTITY.match(value) and not _YEAR.fullmatch(value))


def _line(cells: list[str]) -> str:
    label, *values = cells
    return (
        f"{label.removesuffix(':')}: {' '.join(values)}".rstrip() if label and values else " ".join(filter(None, cells))
    )
