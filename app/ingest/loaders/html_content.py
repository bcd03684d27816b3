"""Tell what of an HTML tree is content: its words, its collapsed panels, and the elements that are not read.

A panel is what a control of the page shows: accordions, tabs, ``details``. Its control's words become its ``summary``,
so that a panel has its own section; a control that is a heading is the section's already. Other hidden elements stay
hidden.
"""

import re
from itertools import islice

from bs4 import Tag
from bs4.element import NavigableString, PageElement

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
SAMPLE_CHARS = 60  # characters of a hidden text that a note quotes
MIN_OUTSIDE_WORDS = 5  # words outside the main part of a page from which on a note names them
HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
WORD_NUMBER = "data-word-number"  # attribute of an item: what stands in the place of its bullet
MAX_LABEL_CHARS = 200
"""Longest label of a control that names its panel."""
MAX_BEFORE = 20
"""Nodes before a hidden element among which its heading is looked for."""
_LABELLED = (*HEADINGS, "summary", "dt")
_UNSEEN = re.compile(r"(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse))\b", re.IGNORECASE)
_PANEL_CLASS = re.compile(r"panel|collaps|accordion|tab|answer|faq|expand|toggle|reveal", re.IGNORECASE)
_GENERAL_LABEL = re.compile(
    r"(?:read|show|view|see|learn|less|more|menu|toggle|open|close|details?|\W)+", re.IGNORECASE
)
"""A label that says what the control does, not what the panel holds."""


def drop_unread(root: Tag) -> list[str]:
    """Open the panels below ``root``, empty the elements that are no content; return the texts that were hidden."""
    _open_panels(root)
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


def hidden_note(hidden: list[str]) -> list[str]:
    """Return a note of the texts that were hidden, which quotes the first; none without such a text."""
    if not hidden:
        return []
    more = f" and {len(hidden) - 1} more" if len(hidden) > 1 else ""
    return [f'hidden text is not read: "{one_line(hidden[0], SAMPLE_CHARS)}"{more}']


def outside_note(main: Tag, body: Tag) -> list[str]:
    """Return a note of the text of a page outside its main part, which quotes its beginning; none for a few words."""
    inside = {id(node) for node in main.descendants}
    outside = "".join(plain_text(node) + " " for node in body.descendants if id(node) not in inside).split()
    if len(outside) < MIN_OUTSIDE_WORDS:
        return []
    return [f'{len(outside)} words outside the main part are not read: "{one_line(" ".join(outside), SAMPLE_CHARS)}"']


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


def is_unseen(tag: Tag) -> bool:
    """Tell whether an element is hidden by its own attributes."""
    return tag.has_attr("hidden") or bool(_UNSEEN.search(str(tag.get("style", ""))))


def _open_panels(root: Tag) -> None:
    """Show every panel below *root*, each as ``details`` with a ``summary`` where its control is no heading."""
    for label in root.find_all(_LABELLED):
        for button in label.find_all("button"):
            button.name = "span"  # a button is no content, but in a heading it is the heading
    for control, panel in _controlled(root):
        if panel.find_parent(["nav", "footer"]) or panel.name == "nav" or _is_navigation(panel):
            continue
        del panel["hidden"], panel["style"]
        words = " ".join(inline_text(control).split())
        named = control.find_parent(_LABELLED) or panel.find(_LABELLED) or panel.name in ("tr", "td", "th", "li", "dd")
        if not named and 0 < len(words) <= MAX_LABEL_CHARS and not _GENERAL_LABEL.fullmatch(words):
            summary = Tag(name="summary")
            summary.string = words
            panel.wrap(Tag(name="details")).insert(0, summary)
            control.clear()
    for tag in [tag for tag in root.find_all(is_unseen) if _is_panel(tag) and not _is_navigation(tag)]:
        del tag["hidden"], tag["style"]


def _controlled(root: Tag) -> list[tuple[Tag, Tag]]:
    """Return each control with the panel it shows, the nearest control of a panel alone."""
    by_id = {str(tag["id"]): tag for tag in root.find_all(id=True)}
    found: dict[int, tuple[Tag, Tag]] = {}
    of_tabs = _tab_panels(root)
    for control in root.find_all(_is_control):
        names = [control.get(name) for name in ("aria-controls", "data-bs-target", "data-target", "href")]
        panel = next((by_id[key] for name in names if (key := str(name or "").lstrip("#")) in by_id), None)
        after = control.find_next_sibling()
        if panel is None and control.name == "button" and isinstance(after, Tag) and _may_follow(control, after):
            panel = after
        panel = of_tabs.get(id(control)) if panel is None else panel
        if panel is not None and not any(parent is panel for parent in control.parents):
            found.setdefault(id(panel), (control, panel))
    return list(found.values())


def _is_control(tag: Tag) -> bool:
    """Tell whether an element opens and closes another."""
    if tag.name == "button":
        return True
    named = any(tag.has_attr(name) for name in ("aria-controls", "aria-expanded", "data-bs-target", "data-target"))
    toggles = tag.has_attr("data-toggle") or tag.has_attr("data-bs-toggle") or tag.get("role") in ("tab", "button")
    return named or (tag.name == "a" and toggles)


def _may_follow(button: Tag, tag: Tag) -> bool:
    """Tell whether what stands after a *button* is its panel; after a question it is the answer."""
    is_block = tag.name in ("div", "section", "p", "ul", "ol")
    asks = inline_text(button).rstrip().endswith("?")
    return is_block and (asks or is_unseen(tag) or bool(_PANEL_CLASS.search(_classes(tag))))


def _tab_panels(root: Tag) -> dict[int, Tag]:
    """Return the panel of each tab, by its identity: that with its name, else that of its number if each has one."""
    tabs, panels = root.find_all(role="tab"), root.find_all(role="tabpanel")
    by_name = {str(panel.get("aria-label")): panel for panel in reversed(panels)}
    numbered = dict(zip(map(id, tabs), panels, strict=True)) if len(tabs) == len(panels) else {}
    named = {id(tab): by_name[label] for tab in tabs if (label := " ".join(inline_text(tab).split())) in by_name}
    return numbered | named


def _is_panel(tag: Tag) -> bool:
    """Tell whether a hidden element is a panel by its role, its name, or the heading it stands below."""
    if tag.get("hidden") == "until-found" or tag.get("role") == "tabpanel":
        return True
    if tag.name not in ("div", "section", "article", "dd", "p", "ul", "ol", "table", "tr", "blockquote"):
        return False
    if tag.name != "tr" and _PANEL_CLASS.search(f"{_classes(tag)} {tag.get('id', '')}"):
        return True
    before = islice(tag.previous_siblings, MAX_BEFORE)
    label = next((near for near in before if isinstance(near, Tag) and not is_unseen(near)), None)
    return label is not None and (label.name in _LABELLED or label.name == "button") and label.name != "h1"


def _is_navigation(tag: Tag) -> bool:
    """Tell whether nearly all words below an element are links: a menu."""
    if tag.find("a") is None:
        return False
    letters, *linked = (len("".join(inline_text(part).split())) for part in (tag, *tag.find_all("a")))
    return letters > 0 and sum(linked) > 0.8 * letters


def _classes(tag: Tag) -> str:
    return " ".join(map(str, tag.get_attribute_list("class")))
