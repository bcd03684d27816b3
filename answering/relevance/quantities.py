"""Tell whether a sentence has an amount of what a question asks for: a number, a weight, a length, a price."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from answering.text.amounts import amounts
from answering.text.terms import NUMBERS

DAYS = "(?:mon|tues|wednes|thurs|fri|satur|sun)days"
_ASKS_NUMBER = re.compile(
    r"\b(?:how (?:many|much|long|often|old|far|big|large|high|fast|tall|heavy|loud|hot|warm|cold|deep|wide|thick)"
    r"|(?:what|which) (?:amount|percentage|share|sum|size|speed|temperature|voltage|weight)"
    r"|wh(?:at|ich)\b.*\bnumber)\b",
    re.IGNORECASE,
)
_ASKS_CODE = re.compile(
    r"\b(?:what(?:['’]s| is| are)|which is) (?:(?:the|your|our) )?(?:\w+ ){0,2}"
    r"(?:code|pin|phone|telephone|fax|extension)\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"\d{3}|\d[ -]\d|\b[A-Z]+-?\d")
ASKS_HOW_MANY = re.compile(r"\bhow many\b", re.IGNORECASE)
_NO_COUNT = re.compile(r"\b\d{1,2}[:.]\d\d\b|\b\d{4}-\d\d-\d\d\b|(?<=[\w,;:)] )[A-Z]\w+ \d+\b(?! \w)")
"""A time of day, a day, and the number of a thing at the end of what is said of it ("Studio 1"): no count.

The word that opens a sentence has a capital anyway: "Seats 6" may count."""
_AMOUNT = re.compile(
    rf"""\d|\b(?:{"|".join(NUMBERS)}|hundreds?|thousands?|million|billion|dozens?
    |half|quarter|third|fortnight|once|twice|double|triple|single|couple|several|few|no|none|never|nothing
    |zero|free|unlimited|until|forever|indefinitely|always|immediately|every|each|hourly|daily|weekly|monthly|quarterly
    |yearly|annual|annually|{DAYS}|(?:second|minute|hour|day|week|month|year|decade)s
    |an?[ ](?:mile|second|minute|hour|day|week|month|year|decade))\b""",
    re.IGNORECASE | re.VERBOSE,
)
"""What can stand for an amount of things or time: a number, or a word of these."""
ASKS_MEASURE = re.compile(
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
_ITEM_LABEL = re.compile(r"^\w+ \d+(?=:)")
"""A label that opens a line ("Bike 3: red"), whose number is no amount."""


@dataclass(frozen=True, slots=True)
class Dimension:
    """What is measured: the ``units`` are those of ``answering.text.amounts``.

    ``named`` are words that stand beside a number without a unit ("Weight: 12"), or for an amount.
    """

    asks: re.Pattern[str]
    units: frozenset[str]
    named: re.Pattern[str]

    def is_in(self, text: str) -> bool:
        """Whether *text* has an amount of this dimension."""
        found = {reading.unit for _, _, readings in amounts(text) for reading in readings}
        return not self.units.isdisjoint(found) or bool(self.named.search(text))


_PRICES = r"prices?|costs?|fees?|fares?|charges?|rent"
_DIMENSIONS = (
    Dimension(
        re.compile(r"\bhow heavy\b|\bhow much\b.*\bweighs?\b|\bwhat\b.*\bweight\b|\bkilo(?:gram)?s\b", re.IGNORECASE),
        frozenset({"mass"}),
        re.compile(r"\bweigh\w*\b.*\d|\d.*\bweigh|\d ?(?:lbs?|pounds?|ounces?|oz|stones?|tons?)\b", re.IGNORECASE),
    ),
    Dimension(
        re.compile(r"\bhow long\b", re.IGNORECASE),
        frozenset({"time", "calendar", "length", "time of day", "month of a year"}),
        re.compile(
            rf"""\b(?:until|till|forever|indefinitely|always|permanent\w*|never|immediately|every|each|unlimited
            |hourly|daily|weekly|monthly|quarterly|yearly|annual\w*|days?|nights?|morning|afternoon|evening|noon
            |midnight|season|long|length|half|while|lasts?|first|end)\b
            |\d[ ]?(?:-|–|to)[ ]?\d
            |\b(?:\d+|{"|".join(NUMBERS)})[ ](?:\w+[ ])?(?:words|pages?|characters|letters|digits|lines|sentences)\b""",
            re.IGNORECASE | re.VERBOSE,
        ),
    ),
    Dimension(
        re.compile(r"\bhow (?:wide|tall|deep|thick)\b", re.IGNORECASE),
        frozenset({"length"}),
        re.compile(
            r"\b(?:wide|width|tall|height|deep|depth|thick\w*)\b.*\d|\d.*\b(?:wide|width|tall|height|deep|depth|thick)"
            r"|\d ?(?:[\"'″′]|in\b|yards?\b|µm|microns?\b|nm\b)",
            re.IGNORECASE,
        ),
    ),
    Dimension(
        re.compile(r"\bhow (?:hot|warm|cold)\b|\bwhat\b.{0,20}\btemperature\b", re.IGNORECASE),
        frozenset({"celsius", "fahrenheit"}),
        re.compile(r"\d ?º|\d ?°|\d[\d.]* ?(?:degrees?|[CFK])\b|\btemperature\b.*\d"),
    ),
    Dimension(
        re.compile(
            rf"\bhow much\b.*\b(?:costs?|pay|paid|charged?|fees?|fares?|rent|price)\b"
            rf"|\bwhat\b.{{0,6}}\bthe\b.*\b(?:{_PRICES})\b|\A\W*(?:\w+\W+){{1,3}}(?:{_PRICES})\W*\Z",
            re.IGNORECASE,
        ),
        frozenset({"dollar", "euro", "franc", "pound"}),
        re.compile(
            rf"\b(?:free|complimentary|gratis|nothing|waived|included?)\b|\bno (?:{_PRICES})\b|\d[.,]\d\d\b"
            rf"|\b(?:{_PRICES}|rates?|pays?|paid|priced?)\b.*\d|\d.*\b(?:{_PRICES}|cents?|pence|yen|kr|zł|rupees|pounds?)\b",
            re.IGNORECASE,
        ),
    ),
)


_ASKS = (_ASKS_NUMBER, ASKS_MEASURE, _ASKS_CODE, *(dimension.asks for dimension in _DIMENSIONS))
ASKS_AMOUNT = re.compile("|".join(f"(?:{asks.pattern})" for asks in _ASKS), re.IGNORECASE)
"""A question that the functions here are for."""


def measures(question: str) -> bool:
    """Whether *question* asks for a weight, a length, a temperature, a duration or a price."""
    return any(dimension.asks.search(question) for dimension in _DIMENSIONS)


def measured_columns(question: str, names: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the columns of a table, with the *names* and *rows*, that hold the weight or price *question* asks for."""
    dimensions = [dimension for dimension in _DIMENSIONS if dimension.asks.search(question)]
    return [
        at
        for at, name in enumerate(names)
        if any(
            dimension.is_in(f"{name}: {value}")
            for row in rows
            for value in row[at : at + 1]
            for dimension in dimensions
        )
    ]


def has_amount(question: str, text: str) -> bool:
    """Whether *text* has an amount of what *question* asks for.

    Of what is measured, besides times and how often; of a weight, a length, a temperature or a price, one of these. A
    row of a table may have the unit in its header.
    """
    text = _ITEM_LABEL.sub("", text)
    if _ASKS_CODE.search(question) and not _CODE.search(text):
        return False
    if ASKS_HOW_MANY.search(question) and not text.startswith("|"):
        text = _NO_COUNT.sub(" ", text)
    if not _AMOUNT.search(_NO_MEASURE.sub("", text) if ASKS_MEASURE.search(question) else text):
        return False
    return text.startswith("|") or all(
        dimension.is_in(text) for dimension in _DIMENSIONS if dimension.asks.search(question)
    )
