"""Find the days of the week that a text names, alone ("Sundays", "Sat") or in a span ("Monday to Friday")."""

import re

_ANY_DAY = re.compile(r"\b(?:every day|daily|any|all|except|but|other|rest|holidays?)\b", re.IGNORECASE)
_NAME = re.compile(
    r"\b(?:(?i:((?:mon|tues|wednes|thurs|fri|satur|sun|week)day|weekend)s?)"
    r"|(Mon|Tues?|Wed|Thu(?:rs?)?|Fri|Sat|Sun))\b(\s?(?:[-–—]|to|through|until|till)(?=\s?\w))?"
)
"""A day, the working days or the weekend, and what follows where a span begins with it."""
_DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def is_of_other_days(question: str, text: str) -> bool:
    """Whether *text* names days of the week, and none that *question* names."""
    asked = days_of(question)
    return bool(asked) and bool(named := days_of(text)) and asked.isdisjoint(named)


def days_of(text: str) -> frozenset[int]:
    """Return the days that *text* names, with those inside its spans; none where it may be about any day."""
    days: set[int] = set()
    start = None
    for name, short, to in [] if _ANY_DAY.search(text) else _NAME.findall(text):
        word = (name or short).lower()
        if word.startswith("week"):
            days.update(range(5) if word == "weekday" else (5, 6))
            continue
        day = _DAYS.index(word[:3])
        days.update([day] if start is None else (at % 7 for at in range(start, start + (day - start) % 7 + 1)))
        start = day if to else None
    return frozenset(days)
