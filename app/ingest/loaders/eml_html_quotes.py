"""Put what the HTML of a message quotes of earlier messages below a heading of its own."""

import re
from collections.abc import Iterable, Sequence
from itertools import chain, islice

from bs4 import BeautifulSoup, Tag
from bs4.element import PageElement

from answering.relevance.entities import QUOTED
from app.ingest.loaders.eml_quotes import FROM, Head, head_at
from app.ingest.loaders.html_content import INLINE, plain_text
from app.ingest.loaders.html_panels import HEADINGS

MAX_QUOTES = 20
"""Quotations of one message that are told apart."""
MAX_NODES, MAX_ANCESTORS = 100, 20
"""Nodes from the beginning of a quotation, and ancestors of its head, that are looked at."""
_FROM = re.compile(rf"^{FROM.pattern}")
_CLASSES = frozenset("gmail_quote yahoo_quoted protonmail_quote".split())


def fold_quotes(tree: BeautifulSoup) -> None:
    """Make ``details`` of each quotation, with a ``summary`` that says whose it is; its headings become paragraphs.

    Quotations are marked by mail programs (``blockquote type=cite``, classes), or all that follows the head of an
    earlier message.
    """
    for name in islice(tree.find_all(string=_FROM), MAX_QUOTES):
        block = next((tag for tag in name.parents if tag.name not in INLINE), tree)
        head = None if block is tree or block.find_parent(_is_quote) else _head(chain([block], block.next_siblings))
        if head:
            start = _outermost(block)
            _fold([start, *start.next_siblings], head.label)
    for quote in tree.find_all(_is_quote, limit=MAX_QUOTES):
        if not any(_is_quote(child) for child in quote.find_all(recursive=False)):
            above = next((node for node in islice(quote.previous_siblings, 3) if _has_text(node)), None)
            opening = _head([above]) if above else None
            head = opening or _head([quote])
            _fold([above, quote] if above and opening else [quote], head.label if head else QUOTED)


def _is_quote(tag: Tag) -> bool:
    classes = set(map(str, tag.get_attribute_list("class")))
    return (tag.name == "blockquote" and tag.get("type") == "cite") or bool(_CLASSES & classes)


def _head(nodes: Iterable[PageElement]) -> Head | None:
    """Return the head that nodes begin with."""
    lines = [line for line in _lines(nodes) if line]
    return head_at(lines, 0, quoted=True) if lines else None


def _lines(nodes: Iterable[PageElement]) -> list[str]:
    """Return the lines at the beginning of some nodes."""
    inner = chain.from_iterable(chain([node], node.descendants) if isinstance(node, Tag) else [node] for node in nodes)
    words = ("\n" if isinstance(node, Tag) and node.name not in INLINE else plain_text(node) for node in inner)
    return [" ".join(line.split()) for line in "".join(islice(words, MAX_NODES)).split("\n")]


def _has_text(node: PageElement) -> bool:
    return any(_lines([node]))


def _outermost(block: Tag) -> Tag:
    """Return the element that holds *block* alone, and after which the quoted text stands."""
    for _ in range(MAX_ANCESTORS):
        around = block.parent
        beside = chain(block.next_siblings, block.previous_siblings)
        if around is None or around.name in ("body", "html", "td", "[document]") or any(map(_has_text, beside)):
            break
        block = around
    return block


def _fold(nodes: Sequence[PageElement], label: str) -> None:
    """Move *nodes*, which stand one after the other, into ``details``."""
    details, summary = Tag(name="details"), Tag(name="summary")
    summary.string = label
    nodes[0].insert_before(details)
    details.append(summary)
    for node in nodes:
        details.append(node)
        for heading in node.find_all(HEADINGS) if isinstance(node, Tag) else []:
            heading.name = "p"
