"""Tables of HTML: those that hold data become rows, those that arrange a page are read like a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.ingest.html_nodes import HEADINGS, as_tag, inline_text
from app.ingest.plain_markup import table_row

if TYPE_CHECKING:
    from bs4 import Tag
    from bs4.element import PageElement

_PAGE_PARTS = frozenset({"table", "pre", *HEADINGS})
"""A table that holds one of these arranges a page."""


def data_tables(root: Tag) -> set[int]:
    """The ``id()`` of every table below ``root`` that has rows and arranges nothing; one pass, whatever the depth."""
    data: set[int] = set()
    arranging: set[int] = set()
    tables: list[int] = []  # open at this point
    stack: list[tuple[PageElement, bool]] = [(root, False)]
    while stack:
        node, leaving = stack.pop()
        tag = as_tag(node)
        if tag is None:
            continue
        if leaving:
            tables.pop()
            continue
        if tables and tag.name in _PAGE_PARTS:
            arranging.add(tables[-1])
        elif tables and tag.name == "tr":
            data.add(tables[-1])
        if tag.name == "table":
            tables.append(id(tag))
            stack.append((tag, True))
        stack.extend((child, False) for child in reversed(tag.contents))
    return data - arranging


def table_text(table: Tag) -> str:
    """The rows of a data table that hold anything, one line each."""
    rows = ([inline_text(cell) for cell in row.find_all(["th", "td"])] for row in table.find_all("tr"))
    return "\n".join(table_row(cells) for cells in rows if any(map(str.strip, cells)))


def caption(table: Tag) -> str:
    """What a table says of itself, or nothing."""
    found = table.find("caption")
    return " ".join(inline_text(found).split()) if found else ""
