"""HTML → a document, by Beautiful Soup; nothing a page points at is fetched."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.ingest.documents import MAX_URL_CHARS, LoadedDocument
from app.ingest.loaders.html_blocks import add_html_blocks
from app.ingest.loaders.html_nodes import drop, inline_text
from app.ingest.loaders.outline import Outline, title_from_name
from app.ingest.loaders.text_encoding import decode

if TYPE_CHECKING:
    from bs4 import BeautifulSoup


def load_html(data: bytes, source: str) -> LoadedDocument:
    """Read an HTML file: its ``main`` where it has one, else its body.

    Title: the only ``h1``, else ``<title>``, else the first heading, else made from the file name. Url:
    ``<link rel="canonical">``.

    Raises ``Unreadable`` for binary data.
    """
    from bs4.dammit import EncodingDetector

    soup = parsed_html(decode(data, EncodingDetector.find_declared_encoding(data, is_html=True)))
    named, url = soup.title, _canonical(soup)
    page_title = inline_text(named) if named else ""
    drop(soup)
    headlines = soup.find_all("h1", limit=2)
    given = " ".join((inline_text(headlines[0]) if len(headlines) == 1 else page_title).split())
    outline = Outline()
    add_html_blocks(outline, soup.find("main") or soup.body or soup)
    title, blocks = outline.finish(given or None, title_from_name(source))
    return LoadedDocument(document_id=source, title=title, source=source, url=url, blocks=blocks)


def text_of_fragment(html: str) -> str:
    """The words of a piece of HTML, a blank line between its headings and blocks."""
    outline = Outline()
    add_fragment(outline, html)
    return outline.text


def add_fragment(outline: Outline, html: str) -> None:
    """Add what stands in a piece of HTML to ``outline``."""
    tree = parsed_html(html)
    drop(tree)
    add_html_blocks(outline, tree)


def parsed_html(html: str) -> BeautifulSoup:
    """The tree of ``html``; Python's own parser accepts anything."""
    import warnings

    from bs4 import BeautifulSoup
    from bs4.exceptions import ParserRejectedMarkup

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its advice on odd markup is for authors of programs
        try:
            return BeautifulSoup(html, "html.parser")
        except ParserRejectedMarkup as error:
            raise ValueError("no HTML") from error


def _canonical(soup: BeautifulSoup) -> str | None:
    link = soup.find("link", rel="canonical")
    href = link.get("href") if link else None
    if isinstance(href, str) and href.startswith(("http://", "https://")) and len(href) <= MAX_URL_CHARS:
        return href
    return None
