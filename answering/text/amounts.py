"""Amounts of a text in base units: "half an hour" equals "30 minutes"."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product, takewhile
from typing import Self

from answering.text.terms import NUMBERS

_TOKEN = re.compile(
    r"(?P<date>\b\d{4}-\d\d-\d\d\b)|(?P<clock>\b\d{1,2}(?::\d\d)?\s?(?i:[ap]\.?m\b)|\b\d{1,2}:\d\d(?::00)?\b(?!:))"
    r"|(?P<degree>(?i:(?:°|\bdegrees?)\s?(?:celsius|fahrenheit|[cf]\b)))"
    r"|(?P<number>(?:(?<![^\s(])(?:[-−–‑](?=\.?\d)|minus (?=\d)))?"
    r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d+|(?<!\w)(?=\.\d))(?:\.\d+)*(?::\d+)*)"
    r"|(?P<word>[^\W\d_]+)|(?P<sign>[$€£%°½¼])"
)
_A = re.compile(r"(?<!half )(?<!\bof )\ban?\b", re.IGNORECASE)  # one of a unit: "a year"; not "half a year"
_NAMED = dict(
    zip("first twice third fourth fifth sixth seventh eighth ninth".split(), map(str, range(1, 10)), strict=True)
)
_NAMED |= {
    "both": "2",
    "pair": "2",
    "couple": "2",
    "double": "2",
    "triple": "3",
    "single": "1",
    "quarterly": "1 quarter",
}
_NAME = re.compile(rf"\b(?:{'|'.join(_NAMED)})\b", re.IGNORECASE)  # words that state a number which a claim may write
_SCALES = {"hundred": 100, "dozen": 12, "thousand": 10**3, "k": 10**3, "million": 10**6, "billion": 10**9, "bn": 10**9}
_OF = frozenset("a an of the".split())  # between such a part and its unit: "half of an hour"
_PARTS = {"half": 0.5, "½": 0.5, "quarter": 0.25, "¼": 0.25}
_YEAR = "january february march april may june july august september october november december".split()
_MONTHS = {form: number for number, name in enumerate(_YEAR, 1) for form in (name, name[:3])} | {"sept": 9}
UNITS_BY_NAME: dict[str, tuple[str, float]] = {  # name -> dimension, and factor to its base unit
    name: (dimension, factor)
    for dimension, units in {
        "time": "1 second seconds sec secs s|60 minute minutes min mins|3600 hour hours hr hrs h|86400 day days|"
        "604800 week weeks|1209600 fortnight fortnights|0.001 millisecond milliseconds ms",
        "calendar": "1 month months|3 quarter quarters|12 year years yr yrs|120 decade decades|1200 century centuries",
        "share": "1 percent % percentage",
        "dollar": "1 dollar dollars $ usd",
        "euro": "1 euro euros € eur",
        "franc": "1 franc francs chf",
        "pound": "1 £ gbp sterling",
        "byte": "1 byte bytes|1e3 kb kilobyte kilobytes kib|1e6 mb megabyte megabytes mib|"
        "1e9 gb gigabyte gigabytes gib|1e12 tb terabyte terabytes tib",
        "length": "1 metre metres meter meters m|1000 km kilometre kilometres kilometer kilometers|"
        "0.01 cm centimetre centimetres|0.001 mm millimetre millimetres|1609.344 mile miles mi|0.3048 foot feet ft|"
        "0.0254 inch inches",
        "mass": "1 gram grams g|1000 kg kilogram kilograms kilos|1e6 tonne tonnes|0.001 mg milligram milligrams|"
        "1e-6 µg μg mcg microgram micrograms|453.592 lb lbs",
        "volume": "1 litre litres liter liters l|0.001 ml millilitre millilitres",
        "celsius": "1 celsius",
        "fahrenheit": "1 fahrenheit",
        "power": "1 watt watts w|1000 kw kilowatt kilowatts|1e6 mw megawatt megawatts",
        "energy": "1 wh|1000 kwh|1e6 mwh",
        "voltage": "1 volt volts v|1000 kv|0.001 mv",
        "frequency": "1 hertz hz|1e3 khz|1e6 mhz|1e9 ghz",
        "pressure": "1 pascal pa|100 hpa mbar|1000 kpa|1e5 bar",
    }.items()
    for factor, names in ((float(unit.split()[0]), unit.split()[1:]) for unit in units.split("|"))
    for name in names
}
_MONTH = 365.25 / 12 * 86_400  # seconds, on average; four weeks, as people count them, are 8 % less
UNITS = UNITS_BY_NAME.keys() | _MONTHS.keys() | {"am", "pm"}  # compared as part of an amount, so no names
_PLURALS = {
    unit: name for name, unit in sorted(UNITS_BY_NAME.items(), key=lambda pair: len(pair[0])) if name[-1] == "s"
}
_IN_FULL = {name: _PLURALS[unit] for name, unit in UNITS_BY_NAME.items() if unit in _PLURALS}
_IN_FULL |= {"£": "pounds", "gbp": "pounds", "m²": "square metres", "m2": "square metres", "m³": "cubic metres"}
_IN_FULL |= {"m3": "cubic metres", "t": "tonnes", "kn": "knots", "°c": "degrees Celsius", "°f": "degrees Fahrenheit"}
_UNIT_OF_COLUMN = re.compile(r"(?<=[(\[])[^\s()\[\]]{1,4}(?=[)\]])|(?<=\s)[^\s()\[\]]{1,4}\Z")


@dataclass(frozen=True, slots=True)
class Amount:
    """``value`` in the base of ``unit`` ("" for none), the text of a version; and the number as ``written``."""

    value: float | str
    unit: str = ""
    written: float | None = None

    def matches(self, other: Self) -> bool:
        """Whether *other* is equal, a month to 4 weeks or 30 days; without a unit on one side, the written numbers."""
        if self.unit == other.unit:
            return _same(self.value, other.value)
        if {self.unit, other.unit} == {"time", "calendar"}:
            days, months = (self, other) if self.unit == "time" else (other, self)
            return math.isclose(float(days.value), float(months.value) * _MONTH, rel_tol=0.09)
        mine, stated = (amount.value if amount.written is None else amount.written for amount in (self, other))
        return not (self.unit and other.unit) and _same(mine, stated)

    def restates(self, other: Self) -> bool:
        """Whether *other* is equal and written with another number: "24 months", "two years"; from 1,000 on in any way.

        "2,500,000" may be "2.5 million"; "two" and "2" are the same to a reader.
        """
        is_large = not isinstance(self.value, str) and self.value >= _SCALES["thousand"]
        return self.unit == other.unit and (is_large or self.written != other.written) and self.matches(other)


def in_full(column: str) -> str:
    """Return the name of a *column* with its unit as a word: "Weight (kg)" as "Weight (kilograms)"."""
    return _UNIT_OF_COLUMN.sub(lambda unit: _IN_FULL.get(unit[0].lower(), unit[0]), column)


def _same(one: float | str, other: float | str) -> bool:
    texts = isinstance(one, str) or isinstance(other, str)
    return one == other if texts else math.isclose(float(one), float(other), rel_tol=1e-9)


def unmatched(claim: str, evidence: Iterable[str]) -> bool:
    """Whether *claim* states an amount that none of the texts *evidence* states."""
    claimed = [readings for _, _, readings in amounts(claim)]
    texts = (_NAME.sub(lambda word: _NAMED[word[0].lower()], text) for text in evidence)
    found = [amount for text in texts if claimed for amount in amounts(_A.sub("one", text))]
    stated = [reading for *_, readings in found for reading in readings]
    return any(not any(mine.matches(other) for mine in readings for other in stated) for readings in claimed)


def as_written(claim: str, evidence: Sequence[str]) -> str:
    """Return *claim* with its amounts in the units of *evidence*: "two years" as "24 months", which a reader misses."""
    text = _A.sub("one", " ".join(evidence))
    for start, end, readings in reversed(amounts(claim)):
        same = (text[a:b] for a, b, others in amounts(text) if any(x.restates(y) for x, y in product(readings, others)))
        if claim[start:end].lower() not in text.lower():
            claim = claim[:start] + next(same, claim[start:end]) + claim[end:]
    return claim


@lru_cache(maxsize=4096)
def amounts(text: str) -> tuple[tuple[int, int, tuple[Amount, ...]], ...]:
    """Find the amounts of *text*: start, end, and the readings it allows; "one" needs a unit, "first" is none."""
    matches = [*_TOKEN.finditer(text)]
    tokens = [(match.lastgroup or "", match[0].lower()) for match in matches]
    found: list[tuple[int, int, tuple[Amount, ...]]] = []
    at = 0
    while at < len(tokens):
        used, readings = _read(tokens, at)
        found += [(matches[at].start(), matches[at + used - 1].end(), readings)] if readings else []
        at += used
    return tuple(found)


def _read(tokens: Sequence[tuple[str, str]], at: int) -> tuple[int, tuple[Amount, ...]]:
    """Return the number of tokens, with its unit, and the readings of the amount at *at*; (1, ()) for none."""
    kind, word = tokens[at]
    if kind == "date":
        year, month, day = word.split("-")
        return 1, (Amount(float(year)), Amount(float(month), "month of a year"), Amount(float(day)))
    if kind == "clock":
        return 1, _times(word)
    if word in _MONTHS and (word not in ("may", "march") or "number" in dict(tokens[max(0, at - 1) : at + 2])):
        return 1, (Amount(float(_MONTHS[word]), "month of a year"),)
    if word in _PARTS:
        used = 1 + len([*takewhile(lambda token: token[1] in _OF, tokens[at + 1 : at + 4])])
        unit = UNITS_BY_NAME.get(tokens[at + used][1]) if at + used < len(tokens) else None
        share = Amount(100 * _PARTS[word], "share"), Amount(_PARTS[word])
        return (used + 1, (Amount(_PARTS[word] * unit[1], unit[0], _PARTS[word]), *share)) if unit else (1, share)
    used, value = _number(tokens, at)
    if value is None or isinstance(value, str):
        return used, (Amount(value),) if value else ()
    following, suffix = tokens[at + used] if at + used < len(tokens) else ("", "")
    unit = UNITS_BY_NAME.get(("celsius", "fahrenheit")["f" in suffix] if following == "degree" else suffix)
    used += unit is not None
    if at and tokens[at - 1][0] == "sign" and suffix in ("m", "b"):  # "$5M"
        value, unit = value * (10**6 if suffix == "m" else 10**9), None
    if unit is None and at and tokens[at - 1][0] == "sign":
        unit = UNITS_BY_NAME.get(tokens[at - 1][1])
    if unit is None:
        return used, () if kind == "word" and value == 1 else (Amount(value),)
    return used, (Amount(value * unit[1], unit[0], value),)


def _times(text: str) -> tuple[Amount, ...]:
    """Read a time of day in hours: "5 pm", "17:00"; "5:00" may be either."""
    hour, minutes, half = re.findall(r"(\d+):?(\d*)\s?([ap]?)", text)[0]
    written, past = int(hour), int(minutes or 0) / 60
    hours = [written % 12 + 12 * (half == "p")] if half else [written, written + 12 * (written <= 12)]
    return tuple(Amount(hour + past, "time of day", written + past) for hour in hours)


def _number(tokens: Sequence[tuple[str, str]], at: int) -> tuple[int, float | str | None]:
    """Read a number at *at*: its tokens and value, text for a version."""
    kind, first = tokens[at]
    total, part, used = 0.0, None, 0
    if kind == "number":
        digits = re.sub("^([−–‑]|minus )", "-", first.replace(",", ""))
        if not re.fullmatch(r"-?\d*\.?\d+", digits):
            return 1, digits
        part, used = float(digits), 1
    for _, word in tokens[at + used :]:
        if word in NUMBERS and kind != "number" and (not part or _continues(part, NUMBERS[word])):
            part = (part or 0.0) + NUMBERS[word]
        elif word in _SCALES and (used or word == "dozen"):
            part = (1.0 if part is None else part) * _SCALES[word]
            if _SCALES[word] >= 1000:
                total, part = total + part, 0.0
        elif not (word == "and" and used and tokens[at + used - 1][1] == "hundred"):
            break
        used += 1
    return (1, None) if part is None else (used, total + part)


def _continues(number: float, word: float) -> bool:
    """Whether *word* goes on with *number*: "twenty" "two", "two hundred" "ten"; not "five" "eight"."""
    return (number >= 100 and number % 100 == 0) or (number >= 20 and number % 10 == 0 and 0 < word < 10)
