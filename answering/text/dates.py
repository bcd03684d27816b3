"""Dates in a text: a day of a year, or a month."""

import re

MONTH = r"(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?"
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_NAMED = r"(?:jan(?:uary)?|feb(?:ruary)?|march|april|may|june|july|august|sept(?:ember)?|october|november|december)"
YEAR = r"(?:19|20)\d\d"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?\.?"
DATED = re.compile(
    rf"(?<![^\W_])(?:(?P<day>{_DAY}) (?:of )?(?P<month>{MONTH}),? (?P<year>{YEAR})"
    rf"|(?P<month2>{MONTH}) (?P<day2>{_DAY}),? (?P<year2>{YEAR})|(?P<month3>{_NAMED}),? (?P<year3>{YEAR})"
    rf"|(?P<day4>[0-3]?\d)\.(?P<number4>[01]?\d)\.(?P<year4>{YEAR})"
    rf"|(?P<year5>{YEAR})[-_.](?P<number5>[01]\d)(?:[-_.](?P<day5>[0-3]\d))?)(?![\d-]*\d|[^\W\d_])",
    re.IGNORECASE,
)
"""A day of a year: "13 May 2025", "May 13, 2025", "13.5.2025", "2025-05-13"; or a month: "May 2025", "2025-05"."""
_LAST_DAY = 31
Date = tuple[int, ...]
"""Year, month and day, 0 for an unknown day; empty for what has no date, which is before all others."""


def date_in(text: str) -> Date:
    """Return the first date in *text*; () where it has none."""
    return next(iter(dates_in(text)), ())


def dates_in(text: str) -> list[Date]:
    """Return the dates in *text*, in their order."""
    return [*filter(None, map(_date, DATED.finditer(text)))]


def _date(found: re.Match[str]) -> Date:
    """Return a date that was *found*; () for one that is none, "5.13.2025"."""
    parts = {name.rstrip("2345"): value for name, value in found.groupdict().items() if value}
    name = parts.get("month", "")[:3].lower()
    month = _MONTHS.index(name) + 1 if name else int(parts["number"])
    day = re.match(r"\d+", parts.get("day", "0"))
    date = int(parts["year"]), month, int(day[0]) if day else 0
    return date if 1 <= month <= len(_MONTHS) and date[2] <= _LAST_DAY else ()
