"""Write as text what a page shows in other ways: ticked boxes, chosen options, descriptions, formulas and marks."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import NamedTuple

from bs4 import Tag
from bs4.element import PageElement

from app.ingest.loaders.html_content import INLINE, inline_text, is_unseen, plain_text

MAX_OPTIONS = 20  # options of a list that are written where none is chosen
MAX_BESIDE = 4  # nodes on each side of a picture among which its description may stand as text
_OPENS_MENU = re.compile(r"menu|nav|toggle|accordion|tabs?\b|collaps|drawer|burger", re.IGNORECASE)
"""A box that no one sees: it opens and closes a part of the page."""
_FILE_NAME = re.compile(r"\S*\.(?:png|jpe?g|gif|svg|webp|avif)", re.IGNORECASE)
_ASKS_FOR_SCRIPT = re.compile(r"\bscript|javascript|browser|cookie", re.IGNORECASE)
_FORMULA_SIGNS = {"mfrac": "/", "msup": "^", "msub": "_"}
MAX_INLINE_DEPTH = 20  # inline elements around a text among which its block is looked for
MAX_BEFORE = 6  # characters before a mark that are looked at
_RAISED = re.compile(r"[-−+]?\d{1,4}|[a-z]")
_POWER = re.compile(r"[×·x] ?10$")
_AFTER_NUMBER = re.compile(r"\d[.,]?$")
_SIGNS = {"sup": "^", "sub": "_"}
_SLASHES = ("/", "⁄")


def write_controls(root: Tag) -> None:
    """Turn the controls, pictures and formulas below *root* that say something into text; leave the others."""
    for tag in root.find_all(list(_WRITERS)):
        shown = "" if is_unseen(tag) else _WRITERS[tag.name](tag)
        if shown:
            tag.name = "span"
            tag.string = shown
    for tag in _outermost(root, "noscript"):
        if tag.find_parent("head") is None and not _ASKS_FOR_SCRIPT.search(inline_text(tag)):
            tag.name = "div"
    for tag in root.find_all(["article", "blockquote"]):
        for footer in tag.find_all("footer", recursive=False):
            footer.name = "div"  # of a text, not of the page
    for tag in _outermost(root, "math"):
        _write_formula(tag)


def _outermost(root: Tag, name: str) -> list[Tag]:
    """Return the elements of a name that stand in no other one of that name."""
    return [tag for tag in root.find_all(name) if tag.find_parent(name) is None]


def _input(tag: Tag) -> str:
    """Return a box as task lists of Markdown write it (GitHub Flavored Markdown, 5.3), or a value that is fixed."""
    kind = str(tag.get("type", "")).lower()
    named = " ".join(str(tag.get(name, "")) for name in ("id", "name", "class"))
    if kind in ("checkbox", "radio"):
        box = "[x] " if tag.has_attr("checked") else "[ ] "
        return "" if _OPENS_MENU.search(named) else box
    return f" {tag.get('value', '')} " if kind in ("", "text", "number") and tag.has_attr("readonly") else ""


def _select(tag: Tag) -> str:
    """Return the chosen options, or all that can be chosen."""
    options = [option for option in tag.find_all("option") if not option.has_attr("disabled")]
    chosen = [option for option in options if option.has_attr("selected")]
    if not chosen and len(options) > MAX_OPTIONS:
        return ""
    words = (" ".join(inline_text(option).split()) for option in chosen or options)
    return f" {', '.join(filter(None, words))} "


def _button(tag: Tag) -> str:
    """Return the words of a button in the middle of a sentence."""
    beside = (tag.previous_sibling, tag.next_sibling)
    amid = all(node is not None and plain_text(node).strip() for node in beside)
    opens = any(name.startswith(("aria-", "data-")) for name in tag.attrs)
    return inline_text(tag) if amid and not opens else ""


def _img(tag: Tag) -> str:
    """Return the description of a picture; "" for a file name, and where the words beside it repeat it."""
    description = " ".join(str(tag.get("alt", "")).split())
    near = [*islice(tag.previous_siblings, MAX_BESIDE), *islice(tag.next_siblings, MAX_BESIDE)]
    captions = (inline_text(node) for node in near if isinstance(node, Tag) and node.name == "figcaption")
    beside = " ".join([*map(plain_text, near), *captions])
    repeated = description.lower() in " ".join(beside.lower().split())
    return "" if not description or repeated or _FILE_NAME.fullmatch(description) else f" {description} "


_WRITERS = {"input": _input, "select": _select, "button": _button, "img": _img}


def _write_formula(formula: Tag) -> None:
    """Turn MathML into a line of text; its source in another language is left out."""
    for note in formula.find_all(["annotation", "annotation-xml"]):
        note.clear()
    for part in formula.find_all(list(_FORMULA_SIGNS)):
        for operand in part.find_all(recursive=False, limit=2)[1:]:
            operand.insert_before(_FORMULA_SIGNS[part.name])
    words = "".join(inline_text(formula).split())
    formula.name = "span"
    formula.string = words


class _Mark(NamedTuple):
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
        noted = mark.text in notes and not mark.before[-1:].isalpha() and not _POWER.search(mark.before)
        if mark.tag.name == "sup" and mark.before and not above and (noted or _is_link(mark.tag)):
            mark.tag.clear()
        elif mark.text[-1].isdecimal() and _AFTER_NUMBER.search(mark.before):
            mark.tag.string = (" " if above else _SIGNS[mark.tag.name]) + mark.text


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
