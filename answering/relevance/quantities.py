"""Tell whether a sentence has an amount of what a question asks for: a number, a weight, a length, a price."""

import re
from collections.abc import Sequence

from answering.relevance.dimensions import DIMENSIONS
from answering.text.amounts import UNITS_BY_NAME, amounts
from answering.text.terms import NUMBERS, stem, stems, words

DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)days"
_ASKS_NUMBER = re.compile(
    r"\b(?:how (?:many|much|long|often|old|far|big|large|high|fast|tall|heavy|loud|hot|warm|cold|deep|wide|thick)"
    r"|(?:what|which) (?:amount|percentage|share|sum|size|speed|temperature|voltage|weight)"
    r"|what(?: is|['’]s) the (?:\w+ ){0,2}(?:amount|percentage|sum|speed|temperature|voltage|weight|maximum|minimum)"
    r"|wh(?:at|ich)\b.*\bnumber)\b",
    re.IGNORECASE,
)
_ASKS_CODE = re.compile(
    r"\b(?:what(?:['’]s| is| are)|which is) (?:(?:the|your|our) )?(?:[\w'’]+ ){0,2}"
    r"(?:code|pin|phone|telephone|fax|extension)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"\d{3}|\d[ -]\d|\b[A-Z]+-?\d")
_ASKS_PHONE = re.compile(r"\bwhat\b.{0,30}\b(?:phone|telephone|fax|mobile) number\b", re.IGNORECASE)
_PHONE = re.compile(
    r"(?:\d[ ()/.+–-]{0,2}){5}|\b(?:call|dial|ring|phone|telephone|tel|ext(?:ension)?|number)\b\D{0,12}\d{2}",
    re.IGNORECASE,
)
_ASKS_HOW_MANY = re.compile(r"\bhow many\b", re.IGNORECASE)
_COUNT = re.compile(
    r"\b(?:one|hundreds?|thousands?|dozens?|once|twice|couple|several|few|no|none|never|nothing|zero|unlimited"
    r"|single|only|each|every|both|pairs?|double|triple|half|all|any|as many)\b",
    re.IGNORECASE,
)
"""Words that can stand for a count."""
_UNITS_COUNTED = frozenset({"dollar", "euro", "franc", "pound", "share", "byte", "mass", "length", "volume"})
"""Units of which a number may be asked for, and hardly said without it: "how many euros"."""
_NO_COUNT = re.compile(r"\b\d{1,2}[:.]\d\d\b|\b\d{4}-\d\d-\d\d\b|(?<=[\w,;:)] )[A-Z]\w+ \d+\b(?! \w)")
"""A time of day, a day, and the number of a thing at the end of what is said of it ("Studio 1"): no count.

The word that opens a sentence has a capital anyway: "Seats 6" may count."""
_OF_ANOTHER = re.compile(
    r"\b(?:at|in|on|within|after|near|into|across|between) (?:the |all |our )?"
    rf"(?:{'|'.join(NUMBERS)}|\d+)(?: [a-z]+){{1,3}}",
    re.IGNORECASE,
)
"""A number of places or times that something is at."""
_AMOUNT = re.compile(
    rf"""\d|\b(?:{"|".join(NUMBERS)}|hundreds?|thousands?|million|billion|dozens?
    |half|quarter|third|fortnight|whole|entire|once|twice|double|triple|single|couple|several|few|no|none|never|nothing
    |zero|free|unlimited|until|forever|indefinitely|always|immediately|every|each|hourly|daily|weekly|monthly|quarterly
    |yearly|annual|annually|{DAYS}|(?:second|minute|hour|day|week|month|year|decade)s
    |an?[ ](?:mile|second|minute|hour|day|week|month|year|decade))\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""What can stand for an amount of things or time: a number, or a word of these."""
_ASKS_MEASURE = re.compile(
    r"\bhow (?:much|big|large|high|fast|tall|heavy|loud|hot|warm|cold|deep|wide|thick)\b"
    r"|\b(?:noise|sound|water|oil|fuel|fill) level\b",
    re.IGNORECASE,
)
_HOUR = rf"(?:{'|'.join(NUMBERS)}|\d{{1,2}}(?:[:.]\d\d)?)"
_NO_MEASURE = re.compile(
    rf"""\b(?:after|before|until|till|since)[ ]{_HOUR}(?=\s*(?:[,;.!?)]|\Z|and\b|or\b|in[ ]the\b))
    |\b(?:every|each|once|twice)\b(?:[ ](?:an?|other|second|third|{"|".join(NUMBERS)}))?
     [ ](?:second|minute|hour|day|week|month|quarter|year|night|morning|evening|{DAYS}?)s?\b
    |\b(?:hourly|daily|weekly|monthly|quarterly|yearly|annual|annually|always|never|immediately)\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""An hour of the day, or how often: no amount of anything else ("water every second day", "no noise after six")."""
BOUND = re.compile(
    r"\b(?:(?:more|less|fewer|other) than|over|under|above|below|at (?:least|most)|up to) \W?\d[\d.,]*"
    r"(?: ?[^\W\d]{1,4}\b)?"
    r"|\b\d[\d.,]*(?: [A-Za-z]+)? or (?:more|less|fewer|above|below)\b",
    re.IGNORECASE,
)
"""An amount that a question compares with: "more than 100 EUR" names no 100 EUR."""
_STOCKS = frozenset(map(stem, "qty quantity pieces pcs stock count units".split()))
"""Names of a column with how many there are of what a row names."""
_ITEM_LABEL = re.compile(r"^\w+ \d+(?=:)")
"""A label that opens a line ("Bike 3: red"), whose number is no amount."""


_ASKS = (_ASKS_NUMBER, _ASKS_MEASURE, _ASKS_CODE, _ASKS_PHONE, *(dimension.asks for dimension in DIMENSIONS))
ASKS_AMOUNT = re.compile("|".join(f"(?:{asks.pattern})" for asks in _ASKS), re.IGNORECASE)
"""A question that the functions here are for."""


def has_amount(question: str, text: str) -> bool:
    """Whether *text* has an amount of what *question* asks for.

    Of what is measured, besides times and how often; of something of ``DIMENSIONS``, one of it; of a count, a number
    without another unit. A row of a table may have the unit in its header.
    """
    text = _ITEM_LABEL.sub("", text)
    if _ASKS_CODE.search(question) and not _CODE.search(text):
        return False
    if _ASKS_PHONE.search(question) and not (_PHONE.search(text) or text.startswith("|")):
        return False
    if _ASKS_HOW_MANY.search(question) and not text.startswith("|"):
        text = _without_other_counts(question, _NO_COUNT.sub(" ", text))
        if not _has_count(question, text):
            return False
    if not _AMOUNT.search(_NO_MEASURE.sub("", text) if _ASKS_MEASURE.search(question) else text):
        return False
    return text.startswith("|") or all(
        dimension.is_in(text) for dimension in DIMENSIONS if dimension.asks.search(question)
    )


def _without_other_counts(question: str, text: str) -> str:
    """Return *text* without the counts of places and times in it: tickets "sold at four counters" may be any number."""
    counted = frozenset(map(stem, _counted(question)))
    return _OF_ANOTHER.sub(lambda found: " " if counted.isdisjoint(stems(found[0])) else found[0], text)


def _has_count(question: str, text: str) -> bool:
    """Whether *text* has a number of what *question* counts: of no unit, but where the unit is what is counted."""
    asked = {UNITS_BY_NAME[word][0] for word in _counted(question) if word in UNITS_BY_NAME}
    if asked - _UNITS_COUNTED:
        return True  # how many days, hours: often said otherwise ("from Monday to Friday")
    if "of" in _counted(question):
        asked |= {"share"}  # "how many of the members": "40 % of them"
    found = {reading.unit for _, _, readings in amounts(text) for reading in readings}
    return bool(found & (asked | {""})) or bool(_COUNT.search(text))


def _counted(question: str) -> list[str]:
    """Return the words after "how many" in *question*, the first three: what is counted."""
    *_, asked = _ASKS_HOW_MANY.split(question.lower(), maxsplit=1)
    return words(asked)[:3]


def stocks(header: Sequence[str], row: Sequence[str]) -> list[str]:
    """Return the cells of *row* below a column that says how many there are of what the row names."""
    return [cell for name, cell in zip(header, row, strict=False) if not _STOCKS.isdisjoint(stems(name))]
