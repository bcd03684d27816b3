"""English words that stand for numbers, and the units that follow them. Closed lists, written by hand."""

from __future__ import annotations

ONES = {
    word: value
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen".split()
    )
}
TENS = {
    word: 10 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
SCALES = {"hundred": 100, "dozen": 12, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
GLUED_SCALES = {"k": 10**3, "bn": 10**9}
"""Scales written right behind the digits, ``5k``."""

ORDINALS = {
    word: value
    for value, word in enumerate(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
        "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth".split(),
        start=1,
    )
} | {"thirtieth": 30, "fortieth": 40, "fiftieth": 50, "hundredth": 100}

PARTS = {
    "half": "half",
    "halves": "half",
    "halved": "half",
    "quarter": "quarter",
    "quarters": "quarter",
    "twice": "twice",
    "double": "twice",
    "doubled": "twice",
    "doubles": "twice",
    "triple": "thrice",
    "tripled": "thrice",
    "thrice": "thrice",
    "½": "half",
    "¼": "quarter",
}
SAME_AS = {
    "half": frozenset({"50", "0.5"}),
    "50": frozenset({"half"}),
    "0.5": frozenset({"half"}),
    "quarter": frozenset({"25", "0.25"}),
    "25": frozenset({"quarter"}),
    "0.25": frozenset({"quarter"}),
    "twice": frozenset({"2"}),
    "2": frozenset({"twice"}),
    "thrice": frozenset({"3"}),
    "3": frozenset({"thrice"}),
    "1": frozenset({"a", "#1"}),
    "#1": frozenset({"original"}),
}
"""What else, standing in a quote, says the same as a value of the claim; "a" is an article, "single" or "sole"."""

MONTHS = {
    name: f"month {value}"
    for value, names in enumerate(
        "january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sept sep|october oct|"
        "november nov|december dec".split("|"),
        start=1,
    )
    for name in names.split()
}
AMBIGUOUS_MONTHS = frozenset({"may", "march", "mar", "jan", "jun", "sep", "dec", "august"})
"""Month names that are other words as well; they count beside a number only."""

UNITS = {
    name: names.split()[0]
    for names in (
        "percent %|per cent|dollar dollars $ usd|euro euros € eur|sterling £ gbp|yen ¥|second seconds sec secs|"
        "minute minutes min mins|hour hours hr hrs|day days|night nights|week weeks|month months|year years yr yrs|"
        "decade decades|century centuries|millisecond milliseconds ms|millimetre millimetres millimeter millimeters mm|"
        "centimetre centimetres centimeter centimeters cm|metre metres meter meters|"
        "kilometre kilometres kilometer kilometers km kms|inch inches|foot feet ft|yard yards|mile miles mi|"
        "milligram milligrams mg|gram grams|kilogram kilograms kg kilos|tonne tonnes ton tons|pound pounds lb lbs|"
        "ounce ounces oz|litre litres liter liters|millilitre millilitres milliliter milliliters ml|"
        "gallon gallons|byte bytes|kilobyte kilobytes kb|megabyte megabytes mb mib|gigabyte gigabytes gb gib|"
        "terabyte terabytes tb|watt watts|kilowatt kilowatts kw|megawatt megawatts mw|volt volts|"
        "degree degrees °|celsius|fahrenheit|"
        "kelvin|knot knots|acre acres|hectare hectares|bar bars|psi|hertz hz|khz|mhz|ghz|mph|kph kmh"
    ).split("|")
    for name in names.split()
}
"""Unit names to one writing each; abbreviations that are other words or letters too ("m", "in") are left out."""
