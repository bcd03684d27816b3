"""Tell what a message quotes of earlier messages, in its text and in its HTML, from what its sender writes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, takewhile
from typing import NamedTuple

from bs4 import BeautifulSoup, Tag
from bs4.element import PageElement

from answering.relevance.earlier_messages import QUOTED
from app.ingest.loaders.html_content import HEADINGS, INLINE, plain_text
from app.ingest.loaders.outline import one_line

FORWARDED = "Forwarded message"
MAX_LABEL_CHARS = 200
MAX_LEVELS = 5  # messages quoted within quoted ones that are told apart
MAX_FIELDS, MAX_OPENING_LINES = 6, 3
"""Lines of the head of a quoted message, and of a line such as "On Monday Ann wrote:", that are looked at."""
FROM = re.compile(r"\s*\*?(?:From|Von|De|Da|Van|Från|Fra)\s?:\*?\s*(?P<name>.*)")
_SENT = re.compile(
    r"\s*\*?(?:Sent|Date|Gesendet|Datum|Envoyé|Enviado(?: el)?|Fecha|Inviato|Data|Verzonden|Skickat|Sendt|Dato)\s?:\*?"
    r"\s*(?P<date>\S.*)"
)
_SUBJECT = re.compile(r"\s*\*?(?:Subject|Betreff|Objet|Asunto|Oggetto|Onderwerp|Ämne|Emne)\s?:")
"""Fields that mail programs write above a message they quote, in their users' languages."""
_FORWARDS = re.compile(r"forward|weitergeleitet|transf|inoltr|reenvi|doorgestuurd|vidare|videre", re.IGNORECASE)
_RULE = re.compile(rf"\s*(?:-{{2,}}[\w' ]+-{{2,}}|_{{10,}}|Begin (?:{_FORWARDS.pattern})\w* message:)\s*$")
_OPENER = re.compile(r"\s*(?:On|Am|Le|El|Il|Op|Den)\s")
_WROTE = re.compile(r"\b(?:wrote|schrieb|a écrit|escribió|ha scritto|schreef|skrev|napisał)\b(?P<rest>.{0,80}):\s*$")
_ADDRESS = re.compile(r"\s*(?:<[^>]*>|\[mailto:[^\]]*\])")
MAX_QUOTES = 20  # quotations of one message that are told apart
MAX_NODES, MAX_ANCESTORS = 100, 20
"""Nodes from the beginning of a quotation, and ancestors of its head, that are looked at."""
_FROM = re.compile(rf"^{FROM.pattern}")
_CLASSES = frozenset("gmail_quote yahoo_quoted protonmail_quote".split())


class Head(NamedTuple):
    """The first *lines* of a quoted message, which say who wrote it; *label* says it in short."""

    label: str
    lines: int


def parts_of(text: str, label: str = "", level: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the parts of a text in their order, without the marks ``>`` before quoted lines, each with its label.

    That names the message it is quoted from, and is "" for the sender's own words. What stands behind ``>`` is quoted;
    so is all below the head of an earlier message, or below "On Monday Ann wrote:".
    """
    lines = text.split("\n")
    own: list[str] = []
    at = 0
    while at < len(lines):
        head = None if lines[at].startswith(">") else head_at(lines, at)
        start = _quote_at(lines, at, head)
        if start is None and head is None:
            own.append(lines[at])
            at += 1
            continue
        yield "\n".join(own), label
        own = []
        of_quote = head.label if head else QUOTED
        if head:
            ruled = bool(_RULE.match(lines[at]))
            yield "\n".join(lines[at + ruled : at + head.lines]), of_quote
            at += head.lines
        if start is None:
            label = of_quote
            continue
        run = [*takewhile(lambda line: line.startswith(">"), lines[start:])]
        inner = "\n".join(line[1:].removeprefix(" ") if level < MAX_LEVELS else line.lstrip("> ") for line in run)
        yield from parts_of(inner, of_quote, level + 1)
        at = start + len(run)
    yield "\n".join(own), label


def _quote_at(lines: Sequence[str], at: int, head: Head | None) -> int | None:
    """Return the line of the first ``>``, at a line or below the head there; None where there is none."""
    at += head.lines if head else 0
    while head and at < len(lines) and not lines[at].strip():
        at += 1
    return at if at < len(lines) and lines[at].startswith(">") else None


def head_at(lines: Sequence[str], at: int, *, quoted: bool = False) -> Head | None:
    """Return the head of an earlier message at a line; with *quoted* what follows is known to be a quotation."""
    return _fields_at(lines, at) or _opening_at(lines, at, quoted)


def _fields_at(lines: Sequence[str], at: int) -> Head | None:
    """Return a head of fields: sender, date and subject; below a rule sender and one of the others."""
    has_rule = bool(_RULE.match(lines[at]))
    start = at + has_rule
    while has_rule and start < min(at + MAX_FIELDS, len(lines)) and not lines[start].strip():
        start += 1
    fields = [*takewhile(str.strip, lines[start : start + MAX_FIELDS])]
    sender = FROM.match(fields[0]) if fields else None
    if sender is None:
        return None
    date = next(filter(None, map(_SENT.match, fields)), None)
    subject = any(map(_SUBJECT.match, fields))
    if not (date and subject) and not (has_rule and (date or subject)):
        return None
    who = [sender["name"], date["date"] if date else ""]
    kind = FORWARDED if has_rule and _FORWARDS.search(lines[at]) else QUOTED
    return Head(_label(kind, ", ".join(filter(None, map(str.strip, who)))), start + len(fields) - at)


def _opening_at(lines: Sequence[str], at: int, quoted: bool) -> Head | None:
    """Return a head such as "On Monday Ann wrote:", which may be wrapped."""
    for size in range(1, MAX_OPENING_LINES + 1):
        words = " ".join(lines[at : at + size])
        wrote = _WROTE.search(words)
        if wrote is None or not all(map(str.strip, lines[at : at + size])):
            continue
        follows = next(filter(str.strip, lines[at + size : at + size + 2]), "").startswith(">")
        dated = bool(_OPENER.match(words)) and any(map(str.isdigit, words))
        if dated or (size == 1 and (quoted or follows or "@" in words)):
            who = _OPENER.sub("", words[: wrote.start()]) + wrote["rest"]
            return Head(_label(QUOTED, who), size)
    return None


def _label(kind: str, who: str) -> str:
    named = " ".join(_ADDRESS.sub("", who).split()).strip(" ,*")
    return one_line(f"{kind}: {named}" if named else kind, MAX_LABEL_CHARS)


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
