"""Keep raised and lowered digits apart from the number they stand behind: note marks, exponents, indices, fractions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from bs4 import Tag
from bs4.element import PageElement

from app.ingest.loaders.html_content import INLINE, plain_text

MAX_INLINE_DEPTH = 20  # inline elements around a text among which its block is looked for
MAX_BEFORE = 6  # characters before a mark that are looked at
_RAISED = re.compile(r"[-−+]?\d{1,4}|[a-z]")
_POWER = re.compile(r"[×·x] ?10$")
_AFTER_NUMBER = re.compile(r"\d[.,]?$")
_SIGNS = {"sup": "^", "sub": "_"}
_SLASHES = ("/", "⁄")


@dataclass(frozen=True, slots=True)
class _Mark:
    """A ``sup`` or ``sub``, its text, and the last characters before it in its block; "" where it opens the block."""

    tag: Tag
    text: str
    before: str


def settle_marks(root: Tag) -> None:
    """Drop the note marks below *root*, and write digits that stand right behind a number as in ``10^6``.

    A note mark is a ``sup`` that is a link, or one that opens another block and stands here behind no letter and no
    power of ten. What stands behind letters (m², 4th) or in brackets ([1]) reads well as it is, and so does a star.
    """
    marks = list(_marks(root))
    notes = {mark.text for mark in marks if not mark.before and mark.tag.name == "sup"}
    for mark in marks:
        above = str(mark.tag.next_sibling or "").lstrip().startswith(_SLASHES)
        if mark.tag.name == "sup" and mark.before and not above and (_is_noted(mark, notes) or _is_link(mark.tag)):
            mark.tag.clear()
        elif mark.text[-1].isdecimal() and _AFTER_NUMBER.search(mark.before):
            mark.tag.string = (" " if above else _SIGNS[mark.tag.name]) + mark.text


def _is_noted(mark: _Mark, notes: set[str]) -> bool:
    """Tell whether a mark is one of *notes*, and not a square behind its unit or an exponent of ten."""
    return mark.text in notes and not mark.before[-1].isalpha() and not _POWER.search(mark.before)


def _marks(root: Tag) -> Iterator[_Mark]:
    """Yield the short marks below *root*, in reading order."""
    before = ""
    last: PageElement = root
    for node in root.descendants:
        if not isinstance(node, Tag):
            before, last = re.sub(r"\s+", " ", before + plain_text(node))[-MAX_BEFORE:], node
        elif node.name not in INLINE:
            before = ""
        elif node.name in _SIGNS and _RAISED.fullmatch(text := _short_text(node)):
            known = before.lstrip() if _block(last) is _block(node) else ""
            yield _Mark(node, text, known)


def _short_text(mark: Tag) -> str:
    """Return the text of a mark, or of the one link in it; "" for one that holds more."""
    inner = mark.contents[0] if len(mark.contents) == 1 else None
    if isinstance(inner, Tag) and len(inner.contents) == 1:
        inner = inner.contents[0]
    return plain_text(inner).strip() if inner and not isinstance(inner, Tag) else ""


def _is_link(mark: Tag) -> bool:
    """Tell whether a mark holds a link, or is all that a link holds."""
    around = mark.parent
    alone = around is not None and around.name == "a" and len(around.contents) == 1
    inner = mark.contents[0]
    return alone or (isinstance(inner, Tag) and inner.name == "a")


def _block(node: PageElement) -> Tag | None:
    """Return the block that a text or an inline element stands in."""
    around = islice(node.parents, MAX_INLINE_DEPTH)
    return next((tag for tag in around if tag.name not in INLINE), None)
