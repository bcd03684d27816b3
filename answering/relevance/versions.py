"""Tell the versions of a document apart: what is in force, a draft, or superseded, and which one is asked for."""

import re
from collections.abc import Container, Sequence

from answering.relevance.entities import names_another
from answering.text.dates import DATED, YEAR, Date, date_in
from answering.types import Chunk

_ISO = re.compile(r"\d{4}(?:-\d\d){0,2}")
NOT_IN_FORCE = "~"
"""Stands before the date of a draft, and of a document that was superseded."""
DRAFT_SHARE, MIN_ANSWERS = 0.5, 0.5
"""Share of its probability to answer that a draft, or what was superseded, has beside what is in force, if that answers
with the second at least. Not fitted."""
ASKS_EARLIER = re.compile(
    r"\b(?:drafts?|superseded|obsolete|outdated|previously|formerly|used to|back then|version \d|v\d"
    r"|(?:previous|former|earlier|old|original) (?:version|edition|rules?|polic\w+|guidelines?|fees?|prices?|limits?)"
    rf"|(?:was|were|did)\b.{{0,80}}\b{YEAR})\b",
    re.IGNORECASE,
)
"""A question for what a draft, or an earlier version, says."""
_NAMED_YEAR = re.compile(rf"\b{YEAR}\b")
_OF_VERSION = re.compile(
    rf"\([^()]*\b(?:draft|version|superseded|old|new|final|v\d|{YEAR})\b[^()]*\)|\b(?:draft|version \d|v\d)[\d.]*"
    rf"|{DATED.pattern}|\b{YEAR}\b",
    re.IGNORECASE,
)
"""What versions of one document have in their titles: years, dates, "v2", "(draft)"."""
SAME_SHARE = 0.8
"""Share of its probability to answer from which a later version of the document answers instead. Not fitted."""
LABEL = re.compile(
    rf"(?<![^\W_])(?:(?:version|edition|revision|rev|v)[ ._-]?(?P<number>\d+(?:\.\d+)*)|(?P<year>{YEAR})"
    r"|(?P<draft>draft)(?=\W*\Z|\W+(?:of|for|from|version|say|said|contain|propose|ha[ds]?|\d)))(?![^\W_])",
    re.IGNORECASE,
)
"""What tells one version from others: its number, its year, or that it is a draft ("a draft beer" is none)."""


def in_force(question: str, chunks: Sequence[Chunk], best: Chunk) -> Chunk:
    """Return the one of *chunks* that most probably answers *question*, of the last version of its document.

    *best* is the most probable one of all. Drafts and what was superseded count less. Documents are versions of one
    where their titles differ in nothing but dates, numbers of versions, and what says that they are drafts. A question
    for one version is answered by that one, if it answers, else one for an earlier state by *best*.
    """
    if asked := _asked_for(question, chunks, best):
        return asked
    if ASKS_EARLIER.search(question):
        return best

    def weighted(chunk: Chunk) -> float:
        return (chunk.answers or 0.0) * (1.0 if is_in_force(chunk) else DRAFT_SHARE)

    first = max(chunks, key=weighted)
    if (first.answers or 0.0) < MIN_ANSWERS:  # what is in force does not answer
        return best
    if _NAMED_YEAR.search(question):
        return first
    likely = [chunk for chunk in chunks if weighted(chunk) >= SAME_SHARE * weighted(first)]
    return max([first, *(chunk for chunk in likely if _is_version_of(chunk, first))], key=rank)


def _asked_for(question: str, chunks: Sequence[Chunk], best: Chunk) -> Chunk | None:
    """Return the one of *chunks* that answers best of those with most labels of *question*; None without any.

    A year alone may be that of what is asked, and no version: then the one answers nearly as well as *best*.
    """
    shared = [labels_asked(question, chunk) for chunk in chunks]
    most = max(shared)
    asked = [chunk for chunk, labels in zip(chunks, shared, strict=True) if labels == most > 0]
    first = max(asked, key=lambda chunk: chunk.answers or 0.0, default=None)
    named = any(not label.isdigit() for label in _labels(question))
    least = MIN_ANSWERS if named else max(MIN_ANSWERS, SAME_SHARE * (best.answers or 0.0))
    return first if first and (first.answers or 0.0) >= least else None


def labels_asked(question: str, chunk: Chunk) -> int:
    """Return how many labels ("version 2", "2017", "draft") *question* shares with the document of *chunk*.

    A year may stand in the text too.
    """
    draft = "" if is_in_force(chunk) else "draft"
    own = _labels(f"{chunk.headings} {chunk.source} {chunk.dated} {draft}")
    return len(_labels(question) & own.union(_NAMED_YEAR.findall(chunk.text)))


def _labels(text: str) -> frozenset[str]:
    """Return the labels in *text*, a number with its "v"."""
    found = (match.groupdict() for match in LABEL.finditer(text.lower()))
    return frozenset(f"v{label['number']}" if label["number"] else label["year"] or label["draft"] for label in found)


def is_outdated(question: str, chunk: Chunk) -> bool:
    """Whether *chunk* is not in force, and *question* asks for no earlier state, and not for its version."""
    return not (is_in_force(chunk) or ASKS_EARLIER.search(question) or labels_asked(question, chunk))


def _is_version_of(one: Chunk, other: Chunk) -> bool:
    titles = {" ".join(_OF_VERSION.sub(" ", chunk.title).lower().split()) for chunk in (one, other)}
    dated = one.document_id != other.document_id and bool(one.dated and other.dated)
    return dated and len(titles) == 1 and "" not in titles


def is_in_force(chunk: Chunk) -> bool:
    """Whether the document of *chunk* does not say of itself that it is a draft or was superseded."""
    return not chunk.dated.startswith(NOT_IN_FORCE)


def is_later(chunk: Chunk, than: Chunk) -> bool:
    """Whether *chunk* is in force and has a later date than the other one, or that one is not in force."""
    return rank(chunk) > rank(than)


def rank(chunk: Chunk) -> tuple[bool, Date]:
    """Return what orders versions: whether *chunk* is in force, and its date."""
    return is_in_force(chunk), date_of(chunk)


def date_of(chunk: Chunk) -> Date:
    """Return the date of *chunk*: in its headings, the innermost first, else that of its document; () without one."""
    dated = chunk.dated.removeprefix(NOT_IN_FORCE)
    own = tuple(map(int, dated.split("-"))) if _ISO.fullmatch(dated) else ()
    inner, outer = (chunk.section or "", chunk.chapter or ""), (chunk.title, chunk.source or "")
    return next(filter(None, (*map(date_in, inner), own, *map(date_in, outer))), ())


def distinct(question: str, chunks: Sequence[Chunk], others: Container[str]) -> list[Chunk]:
    """Leave out near-duplicates of a chunk before them, unless it is about another thing, or they are later."""
    kept: list[Chunk] = []
    said: dict[str, Chunk] = {}  # what says the same as a chunk so far, by id: the last one of these
    for chunk in chunks:
        if chunk.chunk_id in said and not (chunk.dated and is_later(chunk, said[chunk.chunk_id])):
            continue
        kept.append(chunk)
        if chunk.chunk_id not in others and not names_another(question, chunk.text):
            said |= dict.fromkeys(chunk.near_duplicates, chunk)
    return kept
