"""Tell what the text of a message quotes of earlier messages from what its sender writes."""

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile
from typing import NamedTuple

from answering.relevance.entities import QUOTED
from app.ingest.loaders.outline import one_line

FORWARDED = "Forwarded message"
MAX_LABEL_CHARS = 200
MAX_LEVELS = 5
"""Messages quoted within quoted ones that are told apart."""
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


class MailPart(NamedTuple):
    """A part of a message; ``label`` names the message it is quoted from, "" for the sender's own words."""

    text: str
    label: str


class Head(NamedTuple):
    """The first *lines* of a quoted message, which say who wrote it; *label* says it in short."""

    label: str
    lines: int


def parts_of(text: str, label: str = "", level: int = 0) -> Iterator[MailPart]:
    """Yield the parts of a text, in their order and without the marks ``>`` before quoted lines.

    What stands behind ``>`` is quoted; so is all below the head of an earlier message, or below "On Monday Ann wrote:".
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
        yield MailPart("\n".join(own), label)
        own = []
        of_quote = head.label if head else QUOTED
        if head:
            ruled = bool(_RULE.match(lines[at]))
            yield MailPart("\n".join(lines[at + ruled : at + head.lines]), of_quote)
            at += head.lines
        if start is None:
            label = of_quote
            continue
        run = [*takewhile(lambda line: line.startswith(">"), lines[start:])]
        inner = "\n".join(line[1:].removeprefix(" ") if level < MAX_LEVELS else line.lstrip("> ") for line in run)
        yield from parts_of(inner, of_quote, level + 1)
        at = start + len(run)
    yield MailPart("\n".join(own), label)


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
