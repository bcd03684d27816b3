"""What a question may ask the measure of: a weight, a duration, a length, a temperature, money, a share, memory."""

import re
from dataclasses import dataclass

from answering.text.amounts import UNITS_BY_NAME, amounts
from answering.text.terms import NUMBERS


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
_MONEY = ("dollar", "euro", "franc", "pound")
_CURRENCIES = r"(?:dollars|euros|francs|pounds|cents)"
_OTHER_UNITS = "|".join(re.escape(name) for name, (unit, _) in UNITS_BY_NAME.items() if unit not in _MONEY)
_PRICE_ALONE = rf"\d[.,]\d\d\b(?!\s?(?:{_OTHER_UNITS})(?!\w)|\s?m[²³])"
"""A number with two decimals, of nothing else: "12.50", but not "1.54 m³"."""
MONEY = Dimension(
    re.compile(
        rf"\bhow much\b.*\b(?:costs?|pay|paid|charged?|fees?|fares?|rent|price)\b|\bhow many {_CURRENCIES}\b"
        rf"|\bwhat (?:do|does|did|will|would|must)\b.*\b(?:costs?|pay|charge)\b(?! attention| (?:for|with|by)\W*\Z)"
        rf"|\bwhat\b(?! (?:do|does|did)\b).{{0,6}}\bthe\b.*\b(?:{_PRICES})\b"
        rf"|\bwhat (?:{_PRICES}|premium|deposit|fine)(?=\W*\Z| (?:is|do|does|did|will|must|applies)\b)"
        rf"|\A\W*(?:\w+\W+){{1,3}}(?:{_PRICES})\W*\Z",
        re.IGNORECASE,
    ),
    frozenset(_MONEY),
    re.compile(
        rf"\b(?:free|complimentary|gratis|nothing|waived|included?)\b|\bno (?:{_PRICES})\b|{_PRICE_ALONE}"
        rf"|\b(?:{_PRICES}|rates?|pays?|paid|priced?)\b.*\d"
        rf"|\d.*\b(?:{_PRICES}|(?<!per )cents?|pence|yen|kr|zł|rupees|pounds?)\b"
        rf"|\b(?:{'|'.join(NUMBERS)}|hundred)[ -](?:\w+[ -])?(?:cents?|pence|yen|rupees|pounds?)\b",
        re.IGNORECASE,
    ),
)
NAMES_PRICE = re.compile(
    rf"\b(?:{_PRICES}|rates?|tariffs?|premiums?|amounts?|due|pays?|paid|usd|eur|gbp|chf|sek|nok|dkk|pln|czk|jpy|kr|zł"
    rf"|{_CURRENCIES}|tickets?|adults?|child(?:ren)?|members?|guests?|students?|single|day|week|month)\b|[$€£¥₹]",
    re.IGNORECASE,
)
"""What stands around a table of prices without a sign of money in its cells."""
DIMENSIONS = (
    Dimension(
        re.compile(
            r"\bhow heavy\b|\bhow much\b.*\bweighs?\b|\bwhat\b.*\bweight\b|\b(?:kilos|(?:kilo)?grams)\b", re.IGNORECASE
        ),
        frozenset({"mass"}),
        re.compile(r"\bweigh\w*\b.*\d|\d.*\bweigh|\d ?(?:lbs?|pounds?|ounces?|oz|stones?|tons?)\b", re.IGNORECASE),
    ),
    Dimension(
        re.compile(r"\bhow long\b", re.IGNORECASE),
        frozenset({"time", "calendar", "length", "time of day", "month of a year"}),
        re.compile(
            rf"""\b(?:until|till|forever|indefinitely|always|permanent\w*|never|immediately|every|each|unlimited
            |hourly|daily|weekly|monthly|quarterly|yearly|annual\w*|days?|nights?|morning|afternoon|evening|noon
            |midnight|season|long|length|half|while|lasts?|first|end|an?[ ](?:second|minute|hour|week|month|year))\b
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
    MONEY,
    Dimension(
        re.compile(
            r"\bhow old (?:must|do|does|should|can|may|have) (?:I|you|we|one|they|he|she|\w*one|\w*body|an? \w+er"
            r"|\w+ers|children|kids|people|participants|applicants|guests|candidates|students)\b"
            r"|\b(?:minimum|maximum|what) age\b",
            re.IGNORECASE,
        ),
        frozenset(),
        re.compile(
            r"\d\D{0,60}\b(?:years?|aged?|old(?:er)?|younger|birthdays?)\b|\d\s?\+"
            r"|\b(?:years?|aged?|ages|old|birthdays?|under|over|at least|from|until|below|above|only|be)\b\D{0,60}\d"
            r"|\b(?:minors?|adults?|any age|all ages|no age|legal age)\b",
            re.IGNORECASE,
        ),
    ),
    Dimension(
        re.compile(
            r"\b(?:what|which)\b.{0,12}\b(?:percentage|per ?cent|proportion|fraction)\b|\bhow many per ?cent\b",
            re.IGNORECASE,
        ),
        frozenset({"share"}),
        re.compile(
            r"\b(?:none|no|nothing|entire|whole|out of|in ten"
            r"|(?:an?|one|two|three|four)[ -](?:thirds?|fifths?|sixths?|tenths?))\b|\d ?/ ?\d",
            re.IGNORECASE,
        ),
    ),
    Dimension(
        re.compile(
            r"\bhow (?:many|much) (?:\w+ ){0,2}(?:[kmgt]i?b|(?:kilo|mega|giga)?bytes)\b"
            r"|\bhow much (?:\w+ )?(?:ram|memory|disk|storage space)\b"
            r"|\b(?:file|upload|attachment)s? size\b"
            r"|\bhow (?:big|large)\b.*\b(?:files?|uploads?|attachments?|databases?|downloads?)\b",
            re.IGNORECASE,
        ),
        frozenset({"byte"}),
        re.compile(
            r"\d ?[kmgt]i?b?\b|\bunlimited\b|\bno (?:\w+ )?limit\b|\d ?[x×] ?\d|\d ?(?:px|pixels)\b", re.IGNORECASE
        ),
    ),
)
