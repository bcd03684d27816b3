"""Load HTML with Beautiful Soup; nothing a page links to is fetched."""

from __future__ import annotations

import re
import warnings
from functools import partial

from bs4 import BeautifulSoup, Tag
from bs4.builder import LXMLTreeBuilder
from bs4.dammit import EncodingDetector
from lxml import etree

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.html_blocks import HtmlBlocks, inline_text
from app.ingest.loaders.outline import Outline
from app.ingest.loaders.text_encoding import decode

DROPPED = frozenset(
    "script style noscript template nav svg math iframe object embed canvas audio video button select textarea "
    "head title footer".split()
)

_UNSEEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b", re.IGNORECASE)


def load(data: bytes, source: str) -> LoadedDocument:
    """Read an HTML file: its ``main`` where it has one, else its body.

    Title: the only ``h1``, else ``<title>``, else the first heading, else made from the file name. Url:
    ``<link rel="canonical">``.

    Raises ``Unreadable`` for binary data.
    """
    soup = parsed(decode(data, EncodingDetector.find_declared_encoding(data, is_html=True)))
    title, link = inline_text(soup.title) if soup.title else "", soup.find("link", rel="canonical")
    _drop(soup)
    headlines = soup.find_all("h1", limit=2)
    if len(headlines) == 1:
        title = inline_text(headlines[0])
    outline = Outline()
    HtmlBlocks(outline).add(soup.find("main") or soup.body or soup)
    return outline.document(source, " ".join(title.split()), link.get("href") if link else None)


def add_fragment(outline: Outline, html: str) -> None:
    """Add the content of a piece of HTML to ``outline``."""
    tree = parsed(html)
    _drop(tree)
    HtmlBlocks(outline).add(tree)


def parsed(html: str) -> BeautifulSoup:
    """Return the tree of a piece of HTML; elements whose end tag is left out end where they must."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its advice on odd markup is for authors of programs
        return BeautifulSoup(html, builder=LXMLTreeBuilder(parser=partial(etree.HTMLParser, huge_tree=True)))


def _drop(root: Tag) -> None:
    """Empty what is no content in the tree below ``root``."""
    for tag in reversed(root.find_all(_is_dropped)):  # inner ones first, in place: linear however they are nested
        tag.clear()
        tag.name = "span"


def _is_dropped(tag: Tag) -> bool:
    """Tell whether an element is no content: scripts, navigation, footers, controls, hidden elements.

    A page whose body is hidden shows it by a script.
    """
    if tag.name in ("html", "body"):
        return False
    unseen = tag.has_attr("hidden") or _UNSEEN.search(str(tag.get("style", "")))
    return tag.name in DROPPED or tag.get("role") == "navigation" or bool(unseen)
