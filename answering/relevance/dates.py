"""Find the later one of sections with a date in their heading, as minutes and releases have."""

import re
from collections.abc import Sequence

from answering.relevance.entities import MONTH
from answering.types import Chunk

_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\.?"
DATED = re.compile(
    rf"\b(?:{_DAY} (?:of )?(?P<month>{MONTH}),? {_YEAR}|(?P<month2>{MONTH}) (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,? "
    r"(?P<year2>(?:19|20)\d\d)|(?P<iso>(?:19|20)\d\d-\d\d-\d\d))\b",
    re.IGNORECASE,
)
"""A day of a year: "13 May 2025", "May 13, 2025", "2025-05-13"."""
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


LATER_SHARE = 0.4
"""Share of its probability to answer from which a later section is quoted beside an earlier one. Not fitted."""
Date = tuple[int, int, int]
"""Year, month and day."""


def later_section(chunks: Sequence[Chunk], best: Chunk) -> Chunk | None:
    """Return the chunk of *chunks* that most probably answers of those of later sections of the document of *best*.

    Minutes may take a decision back, a release may change a default. None where no later section may answer too.
    """
    date = _date(best)
    of_document = [chunk for chunk in chunks if chunk.scores and chunk.document_id == best.document_id]
    later = [chunk for chunk in of_document if date and (other := _date(chunk)) and other > date]
    newest = max(later, key=lambda chunk: chunk.answers or 0.0, default=None)
    return newest if newest and (newest.answers or 0.0) >= LATER_SHARE * (best.answers or 0.0) else None


def _date(chunk: Chunk) -> Date | None:
    """Return the date in the innermost heading that has one."""
    found = DATED.search(chunk.section or "") or DATED.search(chunk.chapter or "")
    if not found:
        return None
    if found["iso"]:
        year, month, day = map(int, found["iso"].split("-"))
        return year, month, day
    name = (found["month"] or found["month2"])[:3].lower()
    return int(found["year"] or found["year2"]), _MONTHS.index(name) + 1, int(found["day"] or found["day2"])
