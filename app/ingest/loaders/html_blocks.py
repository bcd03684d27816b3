"""A tree of HTML → headings, paragraphs, lists, tables and code, in reading order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.ingest.loaders.html_nodes import HEADINGS, INLINE, as_tag, inline_text, is_text
from app.ingest.loaders.html_tables import caption, data_tables, table_text
from app.ingest.loaders.outline import Outline
from app.ingest.loaders.plain_markup import fenced

if TYPE_CHECKING:
    from bs4 import Tag
    from bs4.element import PageElement

_BREAK = "\0"
"""Stands for ``<br>`` among the words, which hold no NUL; their own line ends are mere spaces."""


def add_html_blocks(outline: Outline, root: Tag) -> None:
    """Add what stands below ``root`` to ``outline``."""
    _Walk(outline, data_tables(root)).run(root)


class _Walk:
    """One pass over the tree with a stack of its own, so that no depth of nesting is too deep."""

    def __init__(self, outline: Outline, data: set[int]) -> None:
        self.outline = outline
        self.data = data
        self.words: list[str] = []
        self.items: list[str] = []  # lines of the open list
        self.counters: list[int | None] = []  # per open list: the next number, None for bullets
        self.marker = ""
        self.term = ""  # of a definition list: it opens the definition's first paragraph
        self.in_term = False

    def run(self, root: Tag) -> None:
        stack: list[tuple[PageElement, bool]] = [(root, False)]
        while stack:
            node, leaving = stack.pop()
            tag = as_tag(node)
            if tag is None:
                if is_text(node):
                    self.words.append(str(node))
            elif leaving:
                self.leave(tag)
            elif self.enter(tag):
                stack.append((tag, True))
                stack.extend((child, False) for child in reversed(tag.contents))
        self.flush()
        self.flush_term()

    def enter(self, tag: Tag) -> bool:
        """Begin an element; say whether its children are to be visited."""
        name = tag.name
        if name == "br":
            self.words.append(_BREAK)
        elif name in ("ul", "ol"):
            self.flush()
            self.counters.append(1 if name == "ol" else None)
        elif name in HEADINGS or name == "pre" or id(tag) in self.data:
            self.whole(tag)
            return False
        elif name not in INLINE:
            self.flush()
            if name == "li":
                self.flush_term()
                self.marker = self.next_marker()
            elif name in ("dt", "dd"):  # one inside the other where an end tag was left out
                self.in_term = name == "dt"
        return True

    def leave(self, tag: Tag) -> None:
        """End an element that was visited."""
        if tag.name in INLINE or tag.name == "br":
            return
        self.flush()
        if tag.name in ("dt", "dl"):
            self.in_term = False
        if tag.name in ("ul", "ol", "dl"):
            self.flush_term()
        if tag.name in ("ul", "ol"):
            self.counters.pop()
            if not self.counters:
                self.outline.add("\n".join(self.items), "list")
                self.items.clear()

    def whole(self, tag: Tag) -> None:
        """Add an element that is one block."""
        self.flush()
        self.flush_term()
        if tag.name in HEADINGS:
            self.outline.heading(HEADINGS[tag.name], inline_text(tag))
        elif tag.name == "pre":
            self.add_lines(fenced(tag.get_text().strip("\n")), code=True)
        else:
            self.words.append(caption(tag))
            self.flush()
            self.add_lines(table_text(tag))

    def add_lines(self, text: str, *, code: bool = False) -> None:
        """Code or a table: a block of its own, or lines of the open list."""
        if self.counters:
            self.items.extend(text.split("\n"))
        else:
            self.outline.add(text, "code" if code else "table")

    def flush(self) -> None:
        """End the open paragraph or item."""
        lines = (" ".join(line.split()) for line in "".join(self.words).split(_BREAK))
        text = "\n".join(line for line in lines if line)
        self.words.clear()
        if not text:
            return
        if self.in_term:
            self.term = f"{self.term}, {text}" if self.term else text
        else:
            term, self.term = self.term, ""
            self.add_text(f"{term}{' ' if term[-1] in ':?!.' else ': '}{text}" if term else text)

    def flush_term(self) -> None:
        """Add a term that no text defines as a paragraph of its own."""
        term, self.term = self.term, ""
        if term:
            self.add_text(term)

    def add_text(self, text: str) -> None:
        """Add a paragraph, or an item of the open list."""
        if self.counters:
            self.items.append(self.marker + text)
            self.marker = "  " * len(self.counters)
        else:
            self.outline.add(text)

    def next_marker(self) -> str:
        """The marker of the next item of the innermost list."""
        indent = "  " * (len(self.counters) - 1)
        number = self.counters[-1] if self.counters else None
        if number is None:
            return f"{indent}- "
        self.counters[-1] = number + 1
        return f"{indent}{number}. "
