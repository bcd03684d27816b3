"""Tables of HTML: those that hold data become rows, those that arrange a page are read like a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.ingest.loaders.html_nodes import HEADINGS, INLINE, as_tag, inline_text, is_text
from app.ingest.loaders.plain_markup import table_row

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
    """The rows of a data table that hold anything, one line each.

    A cell ends where the next one begins: the parser puts that inside it where an end tag was left out.
    """
    rows: list[list[list[str]]] = []
    for node in table.descendants:
        tag = as_tag(node)
        if tag is None:
            if rows and rows[-1] and is_text(node):
                rows[-1][-1].append(str(node))
        elif tag.name == "tr":
            rows.append([])
        elif tag.name in ("th", "td") and rows:
            rows[-1].append([])
        elif rows and rows[-1] and tag.name not in INLINE:
            rows[-1][-1].append(" ")
    cells = (["".join(parts) for parts in row] for row in rows)
    return "\n".join(table_row(row) for row in cells if any(map(str.strip, row)))


def caption(table: Tag) -> str:
    """What a table says of itself, or nothing."""
    found = table.find("caption")
    return " ".join(inline_text(found).split()) if found else ""
