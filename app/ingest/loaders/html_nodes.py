"""Which elements of HTML are text, which are blocks, and which are no content."""

from __future__ import annotations

import re
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

_ENDED_BY = {
    **dict.fromkeys(("td", "th"), frozenset({"td", "th", "tr"})),
    **dict.fromkeys(("dt", "dd"), frozenset({"dt", "dd"})),
    **{name: frozenset({name}) for name in ("li", "tr")},
    "p": frozenset("p div ul ol dl table pre blockquote section article".split()) | frozenset(HEADINGS),
}
"""Elements whose end may be left out; the parser puts what ends them inside them."""

_UNSEEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b", re.IGNORECASE)


def as_tag(node: PageElement) -> Tag | None:
    """The node if it is an element."""
    from bs4 import Tag

    return node if isinstance(node, Tag) else None


def is_text(node: PageElement) -> bool:
    """Whether it is text proper: no comment, no doctype, no CDATA."""
    from bs4.element import NavigableString

    return type(node) is NavigableString


def drop(root: Tag) -> None:
    """Take what is no content out of the tree below ``root``, wherever it stands."""
    for tag in reversed(root.find_all(_is_dropped)):  # the inner ones first: taking out the outer ones is quick then
        ends = _ENDED_BY.get(tag.name, frozenset())
        end = next((at for at, node in enumerate(tag.contents) if (inner := as_tag(node)) and inner.name in ends), None)
        for node in [tag] if end is None else tag.contents[:end]:
            node.extract()


def _is_dropped(tag: Tag) -> bool:
    """Whether an element is no content: scripts, styles, navigation, footers, controls, what is hidden.

    A page whose body is hidden shows it by a script.
    """
    if tag.name in ("html", "body"):
        return False
    unseen = tag.has_attr("hidden") or _UNSEEN.search(str(tag.get("style", "")))
    return tag.name in DROPPED or tag.get("role") == "navigation" or bool(unseen)


def inline_text(tag: Tag) -> str:
    """The words below ``tag``; a block or a line break among them is a space."""
    parts: list[str] = []
    for node in tag.descendants:
        if inner := as_tag(node):
            parts.append("" if inner.name in INLINE else " ")
        elif is_text(node):
            parts.append(str(node))
    return "".join(parts)
