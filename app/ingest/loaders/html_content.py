"""Tell what of an HTML tree is content: its words, and the elements that are not read."""

from bs4 import Tag
from bs4.element import NavigableString, PageElement

from app.ingest.loaders.html_panels import is_unseen, open_panels
from app.ingest.loaders.outline import one_line

INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data dfn em font i img input ins kbd label mark meter output q ruby rt "
    "rp samp small span strong sub sup time tt u var wbr".split()
)
"""Elements that run with the text; all others stand apart from it."""

DROPPED = frozenset(
    "script style noscript template nav svg math iframe object embed canvas audio video button select textarea "
    "head title footer".split()
)
STRUCK = frozenset("s strike del".split())  # what is struck out is said no more

SAMPLE_CHARS = 60
"""Characters of a hidden text that a note quotes."""

MIN_OUTSIDE_WORDS = 5
"""Words outside the main part of a page from which on a note names them."""


def drop_unread(root: Tag) -> list[str]:
    """Open the panels below ``root``, empty the elements that are no content; return the texts that were hidden."""
    open_panels(root, inline_text)
    hidden: list[str] = []
    for tag in reversed(root.find_all(_is_dropped)):  # inner ones first, in place: linear however they are nested
        if is_unseen(tag) and (text := " ".join(inline_text(tag).split())) and not tag.find_parent(_is_dropped):
            hidden.append(text)
        tag.clear()
        tag.name = "span"
    return hidden[::-1]


def _is_dropped(tag: Tag) -> bool:
    """Tell whether an element is no content: scripts, navigation, footers, controls, hidden elements.

    A page whose body is hidden shows it by a script.
    """
    if tag.name in ("html", "body"):
        return False
    return tag.name in DROPPED | STRUCK or tag.get("role") == "navigation" or is_unseen(tag)


def hidden_note(hidden: list[str]) -> tuple[str, ...]:
    """Return a note of the texts that were hidden, which quotes the first; none without such a text."""
    if not hidden:
        return ()
    more = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
    return (f'hidden text is not read: "{one_line(hidden[0], SAMPLE_CHARS)}"{more}',)


def outside_note(main: Tag, body: Tag) -> tuple[str, ...]:
    """Return a note of the text of a page outside its main part, which quotes its beginning; none for a few words."""
    inside = {id(node) for node in main.descendants}
    outside = "".join(plain_text(node) + " " for node in body.descendants if id(node) not in inside).split()
    if len(outside) < MIN_OUTSIDE_WORDS:
        return ()
    return (f'{len(outside)} words outside the main part are not read: "{one_line(" ".join(outside), SAMPLE_CHARS)}"',)


def inline_text(tag: Tag) -> str:
    """Return the words below ``tag``; blocks and line breaks become spaces."""
    words = (
        plain_text(node) if not isinstance(node, Tag) else "" if node.name in INLINE else " "
        for node in tag.descendants
    )
    return "".join(words)


def plain_text(node: PageElement) -> str:
    """Return a text; a comment, a doctype and CDATA are none."""
    return str(node) if type(node) is NavigableString else ""
