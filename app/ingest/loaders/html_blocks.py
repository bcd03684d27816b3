"""Make headings, paragraphs, lists, tables and code of a tree of HTML, in reading order."""

from __future__ import annotations

from bs4 import Tag
from bs4.element import NavigableString, PageElement

from app.ingest.loaders.outline import Outline, fenced, table_row

HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img input ins kbd label mark meter output q ruby rt "
    "rp s samp small span strike strong sub sup time tt u var wbr".split()
)
"""Elements that run with the text; all others stand apart from it."""

_BREAK = "\0"
"""A ``<br>`` among the words, which hold no NUL; their own line ends are spaces."""


def inline_text(tag: Tag) -> str:
    """Return the words below ``tag``; a block or a line break among them is a space."""
    words = (
        _text(node) if not isinstance(node, Tag) else "" if node.name in INLINE else " " for node in tag.descendants
    )
    return "".join(words)


def _text(node: PageElement) -> str:
    """Return a text; a comment, a doctype and CDATA are none."""
    return str(node) if type(node) is NavigableString else ""


class HtmlBlocks:
    """Adds a tree to an outline in one pass, with a stack of its own, so that no depth of nesting is too deep."""

    def __init__(self, outline: Outline) -> None:
        self._outline = outline
        self._words: list[str] = []
        self._items: list[str] = []  # lines of the open list
        self._counters: list[int | None] = []  # per open list: the next number, None for bullets
        self._marker = ""
        self._term = ""  # of a definition list: it opens the definition's first paragraph
        self._in_term = False

    def add(self, root: Tag) -> None:
        """Add everything below ``root``."""
        stack: list[tuple[PageElement, bool]] = [(root, False)]
        while stack:
            node, leaving = stack.pop()
            if not isinstance(node, Tag):
                self._words.append(_text(node))
            elif leaving:
                self._leave(node.name)
            elif node.name in HEADINGS and not self._counters:
                self._flush()
                self._flush_term()
                self._outline.heading(int(node.name[1]), inline_text(node))
            elif node.name == "pre" or _is_data_table(node):
                self._add_whole(node)
            else:
                self._enter(node)
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node.contents))
        self._flush()
        self._flush_term()

    def _enter(self, tag: Tag) -> None:
        name = tag.name
        if name == "br":
            self._words.append(_BREAK)
        elif name not in INLINE:
            self._flush()
        if name in ("ul", "ol"):
            start = str(tag.get("start", ""))
            first = int(start) if start.isdecimal() and len(start) < 10 else 1
            self._counters.append(first if name == "ol" else None)
        elif name == "li":
            self._flush_term()
            number = self._counters[-1] if self._counters else None
            self._marker = "  " * (len(self._counters) - 1) + ("- " if number is None else f"{number}. ")
            if number is not None:
                self._counters[-1] = number + 1
        elif name in ("dt", "dd"):  # one inside the other where an end tag was left out
            self._in_term = name == "dt"

    def _leave(self, name: str) -> None:
        if name in INLINE or name == "br":
            return
        self._flush()
        if name in ("dt", "dl"):
            self._in_term = False
        if name in ("ul", "ol", "dl"):
            self._flush_term()
        if name in ("ul", "ol"):
            self._counters.pop()
            if not self._counters:
                self._outline.add("\n".join(self._items), "list")
                self._items.clear()

    def _add_whole(self, tag: Tag) -> None:
        """Add an element that is one block; code and tables in a list are lines of it."""
        self._flush()
        self._flush_term()
        if caption := tag.find("caption"):
            self._words.append(inline_text(caption))
            self._flush()
        is_code = tag.name == "pre"
        text = fenced(tag.get_text().strip("\n"), str(tag.get("lang", ""))) if is_code else _rows(tag)
        if self._counters:
            self._items.extend(text.split("\n"))
        else:
            self._outline.add(text, "code" if is_code else "table")

    def _flush(self) -> None:
        """End the open paragraph or item."""
        lines = (" ".join(line.split()) for line in "".join(self._words).split(_BREAK))
        text = "\n".join(line for line in lines if line)
        self._words.clear()
        if text and self._in_term:
            self._term = f"{self._term}, {text}" if self._term else text
        elif text:
            term, self._term = self._term, ""
            self._add_text(f"{term}{' ' if term[-1] in ':?!.' else ': '}{text}" if term else text)

    def _flush_term(self) -> None:
        """Add a term that no text defines as a paragraph of its own."""
        term, self._term = self._term, ""
        if term:
            self._add_text(term)

    def _add_text(self, text: str) -> None:
        if self._counters:
            self._items.append(self._marker + text)
            self._marker = "  " * len(self._counters)
        else:
            self._outline.add(text)


def _is_data_table(tag: Tag) -> bool:
    """Tell whether an element is a table with rows, and not one that arranges a page.

    Not by ``Tag.find``, which first goes down to the last descendant: quadratic in tables nested fifty thousand deep.
    """
    left, has_row = [*tag.contents] if tag.name == "table" else [], False
    while left:
        if isinstance(node := left.pop(), Tag):
            if node.name in ("table", "pre") or node.name in HEADINGS:
                return False
            has_row = has_row or node.name == "tr"
            left += node.contents
    return has_row


def _rows(table: Tag) -> str:
    """Return the rows of a data table that hold anything, one line each.

    A cell ends where the next one begins: the parser puts that inside it where an end tag was left out.
    """
    rows: list[list[str]] = []
    for node in table.descendants:
        if isinstance(node, Tag) and node.name == "tr":
            rows.append([])
        elif rows and isinstance(node, Tag) and node.name in ("th", "td"):
            rows[-1].append("")
        elif rows and rows[-1] and isinstance(node, Tag):
            rows[-1][-1] += "" if node.name in INLINE else " "
        elif rows and rows[-1]:
            rows[-1][-1] += _text(node)
    return "\n".join(table_row(row) for row in rows if any(map(str.strip, row)))
