"""Ranges of a text, and what states one end of them: "up to 5 days" of "3 to 5 days"."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from answering.text.amounts import Amount, amounts

_BETWEEN = re.compile(r"\s?[-–—]\s?|\s(?:to|and)\s(?:about\s|over\s)?\$?€?£?")
"""What stands between both ends of a range."""
_IS_BETWEEN = re.compile(r"\bbetween\s\W?\Z")
_LOWEST = re.compile(
    r"\b(?:from|(?:at|no|not) (?:least|less than|fewer than)|(?:a )?minimum of|(?:start|begin)\w* (?:at|from))"
    r"\s(?:about\s)?\W?\Z",
    re.IGNORECASE,
)
_HIGHEST = re.compile(
    r"\b(?:up to|until|till|(?:limited|restricted) to|at (?:the )?most|(?:no|not) (?:more|longer|later) than"
    r"|(?:a )?maximum of|as (?:much|many|long) as)\s(?:about\s)?\W?\Z",
    re.IGNORECASE,
)
"""What stands before the lower and the upper end of a range, where a text has only that end."""
_BOUND = re.compile(
    r"\b(?:between|over|under|above|below|than|until|till|by|after|before|minimum|maximum|least|most|about"
    r"|around|approximately|roughly)\s?\W?\Z|[-–—~<>≥≤]\s?\W?\Z",
    re.IGNORECASE,
)
"""What makes an amount a bound, or no exact one."""
_OR_MORE = re.compile(
    r"(?: \w+)?\s?(?:or|and) (?:more|less|fewer|over|up|above|below|older|younger|longer)\b|\+|\s?[-–—]\d",
    re.IGNORECASE,
)
_NOT_MEASURED = frozenset({"time of day", "month of a year"})
YEARS = range(1000, 2200)
"""Numbers that may be years: of a span of years either end is said alone ("it began in 2019")."""


class Range(NamedTuple):
    """Where a range stands in its text, and the readings of both ends."""

    start: int
    end: int
    low: tuple[Amount, ...]
    high: tuple[Amount, ...]


def ranges(text: str) -> Iterator[Range]:
    """Find the ranges of *text*: two numbers, the first less, joined by "to" or a dash, or by "between" and "and"."""
    for (start, stop, low), (begin, end, high) in pairwise(amounts(text)):
        link = text[stop:begin]
        joined = _BETWEEN.fullmatch(link) and ("and" not in link or _IS_BETWEEN.search(text[:start]))
        if joined and not any(isinstance(one.value, str) for one in (*low, *high)) and _written(low) < _written(high):
            yield Range(start, end, low, high)


def with_ranges(claim: str, evidence: Sequence[str]) -> str:
    """Return *claim* with the ranges of *evidence* for a bound that is one end: "3 to 5 days" for "up to 5 days"."""
    found = [(text[one.start : one.end], one) for text in evidence for one in ranges(text)]
    for start, end, readings in reversed(amounts(claim) if found else ()):
        lowest, highest = _LOWEST.search(claim[:start]), _HIGHEST.search(claim[:start])
        whole = [
            (text, bound)
            for text, one in found
            for bound, side in ((lowest, one.low), (highest, one.high))
            if bound and _match(readings, side)
        ]
        for text, bound in whole[:1]:
            claim = f"{claim[: bound.start()]}{text}{claim[end:]}"
    return claim


def states_one_end(claim: str, evidence: str) -> bool:
    """Whether *claim* states an amount that in *evidence* is just one end of a range, and not as the bound that it is.

    Times, months and years are none: "it opens at 9", "it began in 2019".
    """
    found = [one for one in ranges(evidence) if _is_measured(one.low) and _is_measured(one.high)]
    if not found:
        return False
    inside = [*ranges(claim)]
    alone = [stated for at, _, stated in amounts(evidence) if not _is_inside(at, found)]
    for start, end, readings in amounts(claim):
        if any(_match(readings, stated) for stated in alone) or _is_inside(start, inside):
            continue
        before, after = claim[:start], claim[end:]
        lowest, highest = bool(_LOWEST.search(before)), bool(_HIGHEST.search(before))
        is_other_bound = not (lowest or highest) and bool(_BOUND.search(before) or _OR_MORE.match(after))
        is_low = any(_match(readings, one.low) for one in found)
        is_high = any(_match(readings, one.high) for one in found)
        if (is_low and not (lowest or is_other_bound)) or (is_high and not (highest or is_other_bound or is_low)):
            return True
    return False


def _is_inside(at: int, found: Iterable[Range]) -> bool:
    return any(one.start <= at < one.end for one in found)


def _is_measured(readings: Sequence[Amount]) -> bool:
    return not any(one.unit in _NOT_MEASURED or (not one.unit and one.value in YEARS) for one in readings)


def _written(readings: Sequence[Amount]) -> float:
    first = readings[0]
    return float(first.value if first.written is None else first.written)


def _match(mine: Sequence[Amount], theirs: Sequence[Amount]) -> bool:
    return any(one.matches(other) for one in mine for other in theirs)
