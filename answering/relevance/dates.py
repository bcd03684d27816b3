"""Find the later one of sections and documents with a date in their names, as minutes and releases have."""

import re
from collections.abc import Sequence

from answering.relevance.entities import MONTH
from answering.types import Chunk

_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\.?"
DATED = re.compile(
    rf"\b(?:{_DAY} (?:of )?(?P<month>{MONTH}),? {_YEAR}|(?P<month2>{MONTH}) (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,? "
    r"(?P<year2>(?:19|20)\d\d)|(?P<iso>(?:19|20)\d\d-[01]\d(?:-\d\d)?))(?![\d-]*\d)",
    re.IGNORECASE,
)
"""A day of a year: "13 May 2025", "May 13, 2025", "2025-05-13"; or a month, as in the name of a file: "2025-05"."""
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


LATER_SHARE = 0.4
"""Share of its probability to answer from which a later section is quoted beside an earlier one. Not fitted."""
CHANGES = re.compile(
    r"\b(?:instead|no longer|any ?more|(?:from )?now|(?:as|with effect) (?:of|from)|again|new|only"
    r"|decided|resolved|agreed"
    rf"|(?:from|until) (?:\d{{1,2}} )?{MONTH}"
    r"|ris(?:es?|en)|rose|go(?:es)? (?:up|down)|mov(?:es?|ed)|cut|end(?:s|ed)|stops?|withdrawn"
    r"|(?:rais|lower|increas|reduc|extend|chang|lift|dropp|cancel|clos|replac|abolish|scrapp|revok)\w*)\b",
    re.IGNORECASE,
)
"""Words of a sentence that changes what was so before: "goes up from 25 to 30 euros", "is no longer allowed"."""
Date = tuple[int, ...]
"""Year, month and day; empty for what has no date, which is before all others."""


def later_section(chunks: Sequence[Chunk], best: Chunk) -> Chunk | None:
    """Return the last of those of later sections and documents than *best*, of *chunks*, that may answer as well.

    Minutes may take a decision back, a release may change a default. Those of another document may change what one
    with an earlier date, or with none, says: their best sentence tells of a change. None where no later one may answer.
    """
    date = _date(best)
    later = [chunk for chunk in chunks if chunk.scores and _date(chunk) > date]
    later = [chunk for chunk in later if (date and chunk.document_id == best.document_id) or _tells_of_change(chunk)]
    likely = [chunk for chunk in later if (chunk.answers or 0.0) >= LATER_SHARE * (best.answers or 0.0)]
    return max(likely, key=_date, default=None)


def later_than(chunks: Sequence[Chunk], found: Sequence[Chunk]) -> list[Chunk]:
    """Return those of *chunks* with a later date than all of *found*, in their order: they may say what changed."""
    last = max(map(_date, found), default=())
    return [chunk for chunk in chunks if _date(chunk) > last]


def _tells_of_change(chunk: Chunk) -> bool:
    """Whether the best sentence of *chunk* changes what was so before."""
    _, best = max(zip(chunk.scores, chunk.sentences, strict=False), default=(0.0, ""))
    return bool(CHANGES.search(best))


def _names(chunk: Chunk) -> tuple[str, ...]:
    """Return what a date may stand in, the innermost first."""
    return chunk.section or "", chunk.chapter or "", chunk.title, chunk.source or ""


def _date(chunk: Chunk) -> Date:
    """Return the date in the innermost name that has one, its day 0 where that has none; () where none has a date."""
    found = next(filter(None, map(DATED.search, _names(chunk))), None)
    if not found:
        return ()
    if found["iso"]:
        year, month, day = (*map(int, found["iso"].split("-")), 0)[:3]
        return year, month, day
    name = (found["month"] or found["month2"])[:3].lower()
    return int(found["year"] or found["year2"]), _MONTHS.index(name) + 1, int(found["day"] or found["day2"])
