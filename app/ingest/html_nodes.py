"""Which elements of HTML are text, which are blocks, and which are no content."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bs4 import Tag
    from bs4.element import PageElement

HEADINGS = {f"h{level}": level for level in range(1, 7)}
DROPPED = frozenset(
    "script style noscript template nav svg math iframe object embed canvas audio video button select textarea "
    "head title footer".split()
)
INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img input ins kbd label mark meter output q ruby rt "
    "rp s samp small span strike strong sub sup time tt u var wbr".split()
)
"""Elements that run with the text; all others stand apart from it."""


def as_tag(node: PageElement) -> Tag | None:
    """The node if it is an element."""
    from bs4 import Tag

    return node if isinstance(node, Tag) else None


def is_text(node: PageElement) -> bool:
    """Whether it is text proper: no comment, no doctype, no CDATA."""
    from bs4.element import NavigableString

    return type(node) is NavigableString


def is_dropped(tag: Tag) -> bool:
    """Whether an element is no content: scripts, styles, navigation, footers, controls, what is hidden."""
    return tag.name in DROPPED or tag.has_attr("hidden") or tag.get("role") == "navigation"


def inline_text(tag: Tag) -> str:
    """The words below ``tag``; a block or a line break among them is a space."""
    parts: list[str] = []
    for node in tag.descendants:
        if inner := as_tag(node):
            parts.append("" if inner.name in INLINE else " ")
        elif is_text(node):
            parts.append(str(node))
    return "".join(parts)
