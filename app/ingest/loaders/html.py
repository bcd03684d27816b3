"""Make blocks of HTML with Beautiful Soup, in reading order; links are not fetched."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from bs4 import BeautifulSoup, Tag
from bs4.dammit import EncodingDetector
from bs4.element import PageElement
from lxml import etree

from app.ingest.documents import Kind, LoadedDocument
from app.ingest.loaders.html_content import (
    HEADINGS,
    INLINE,
    WORD_NUMBER,
    drop_unread,
    hidden_note,
    inline_text,
    outside_note,
    plain_text,
)
from app.ingest.loaders.html_controls import settle_marks, write_controls
from app.ingest.loaders.html_table import pairs_of, rows_of, write_nested
from app.ingest.loaders.outline import Outline, fenced, number_of, table_text
from app.ingest.loaders.text_encoding import decode

_BREAK = "\0"  # a ``<br>`` among the words, which hold no NUL; their own line ends are spaces


def load(data: bytes, source: str) -> LoadedDocument:
    """Read an HTML file: its ``main`` where it has one, else its body; collapsed panels are read.

    Notes tell of other hidden text, and of text outside ``main``. Title: the only ``h1``, ``<title>``, first heading,
    or file name. Url: the canonical link. Raises ``Unreadable``.
    """
    soup = parsed(decode(data, EncodingDetector.find_declared_encoding(data, is_html=True)))
    title, link = inline_text(soup.title) if soup.title else "", soup.find("link", rel="canonical")
    hidden = _cleared(soup)
    headlines = soup.find_all("h1", limit=2)
    if len(headlines) == 1:
        title = inline_text(headlines[0])
    outline = Outline()
    body = soup.body or soup
    main = soup.find("main") or body
    HtmlBlocks(outline).add(main)
    outline.notes += hidden_note(hidden) + outside_note(main, body)
    return outline.document(source, " ".join(title.split()), link.get("href") if link else None)


def add_fragment(outline: Outline, html: str, prepare: Callable[[BeautifulSoup], None] | None = None) -> None:
    """Add the content of a piece of HTML, whose tree *prepare* may change, to ``outline``."""
    tree = parsed(html)
    if prepare:
        prepare(tree)
    _cleared(tree)
    HtmlBlocks(outline).add(tree)


def _cleared(tree: BeautifulSoup) -> list[str]:
    """Make text of what a page shows in other ways, and empty what is no content; return the hidden texts."""
    write_controls(tree)
    hidden = drop_unread(tree)
    settle_marks(tree)
    return hidden


def parsed(html: str) -> BeautifulSoup:
    """Parse a piece of HTML; omitted end tags are completed."""
    return BeautifulSoup(html, "lxml", parser=partial(etree.HTMLParser, huge_tree=True))


@dataclass(slots=True)
class HtmlBlocks:
    """Adds a tree to an outline in one pass, without recursion, for any depth of nesting."""

    outline: Outline
    words: list[str] = field(default_factory=list)
    items: list[str] = field(default_factory=list)  # lines of the open list
    counters: list[int | None] = field(default_factory=list)  # per open list: the next number, None for bullets
    marker: str = ""
    term: str = ""  # of a definition list: it opens the definition's first paragraph
    in_term: bool = False
    in_link: bool = False  # in a link to a place of the same page
    says: bool = False  # the open list has more than such links
    panels: list[int] = field(default_factory=list)  # headings open before each open panel

    def add(self, root: Tag) -> None:
        """Add everything below ``root``."""
        write_nested(root)
        layout: set[int] = set()  # tables that arrange a page: with tables, code or headings in them
        for inner in root.find_all(["table", "pre", *HEADINGS]):
            table = inner.find_parent("table")
            while table and id(table) not in layout:
                layout.add(id(table))
                table = table.find_parent("table")
        stack: list[tuple[PageElement, bool]] = [(root, False)]
        while stack:
            node, leaving = stack.pop()
            if not isinstance(node, Tag):
                self.words.append(text := plain_text(node))
                self.says |= not (self.in_link or text.isspace() or not text)
            elif leaving:
                self._leave(node.name)
            elif node.name in HEADINGS and not self.counters:
                self._flush_all()
                self.outline.heading(int(node.name[1]), inline_text(node))
            elif node.name == "summary" and self.panels and not self.counters:
                self._flush_all()
                self.outline.heading(self.outline.level_below(), inline_text(node))
            elif node.name == "pre" or (node.name == "table" and id(node) not in layout and node.find("tr")):
                self._add_whole(node)
            else:
                self._enter(node)
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node.contents))
        self._flush_all()

    def _enter(self, tag: Tag) -> None:
        name = tag.name
        self.in_link |= name == "a" and str(tag.get("href", "")).startswith("#")
        if name == "br":
            self.words.append(_BREAK)
        elif name not in INLINE:
            self._flush()
        if name in ("ul", "ol"):
            self.says &= bool(self.counters)
            self.counters.append(number_of(str(tag.get("start", "")), 1) if name == "ol" else None)
        elif name == "li":
            self._flush_all()
            number = self.counters[-1] if self.counters else None
            marker = tag.get(WORD_NUMBER) or ("-" if number is None else f"{number}.")
            self.marker = f"{'  ' * (len(self.counters) - 1)}{marker} "
            if number is not None:
                self.counters[-1] = number + 1
        elif name in ("dt", "dd", "summary"):
            self.in_term = name != "dd"
        elif name == "details":
            self._flush_all()
            self.panels.append(self.outline.depth)

    def _leave(self, name: str) -> None:
        """End an element; drop a list of nothing but links into its own page (a table of contents)."""
        self.in_link &= name != "a"
        if name in INLINE or name == "br":
            return
        self._flush()
        if name in ("dt", "dl", "summary"):
            self.in_term = False
        if name == "details":
            self._flush_all()
            self.outline.close(self.panels.pop())
        if name in ("ul", "ol", "dl"):
            self._flush_all()
        if name in ("ul", "ol"):
            self.counters.pop()
            if not self.counters:
                self.outline.add("\n".join(self.items) if self.says else "", "list")
                self.items.clear()

    def _add_whole(self, tag: Tag) -> None:
        """Add code, a table, or labels with their values, as one block; in a list, as lines of the item."""
        self._flush_all()
        if caption := tag.find("caption"):
            self.words.append(inline_text(caption))
            self._flush()
        kind: Kind = "code"
        if tag.name == "pre":
            text = fenced(tag.get_text().strip("\n"), str(tag.get("lang", "")))
        elif text := pairs_of(tag):
            kind = "list"
        else:
            text, kind = table_text(rows_of(tag)), "table"
        if self.counters:
            self.says = True
            self.items.extend(text.split("\n"))
        else:
            self.outline.add(text, kind)

    def _flush(self) -> None:
        """End the open paragraph or item."""
        lines = (" ".join(line.split()) for line in "".join(self.words).split(_BREAK))
        text = "\n".join(line for line in lines if line)
        self.words.clear()
        if text and self.in_term:
            self.term = f"{self.term}, {text}" if self.term else text
        elif text:
            term, self.term = self.term, ""
            self._add_text(f"{term}{' ' if term[-1] in ':?!.' else ': '}{text}" if term else text)

    def _flush_all(self) -> None:
        """End the open paragraph or item; a term that no text defines becomes a paragraph of its own."""
        self._flush()
        term, self.term = self.term, ""
        if term:
            self._add_text(term)

    def _add_text(self, text: str) -> None:
        if self.counters:
            self.items.append(self.marker + text)
            self.marker = "  " * len(self.counters)
        else:
            self.outline.add(text)
