"""Tell sentences on the opposite of what a question names: non-members, or what is under 8 metres for over 30."""

import re
from math import inf

from answering.text.amounts import amounts
from answering.text.terms import stem, words

_NON = re.compile(r"\bnon-?(?=\w{3})(\w+)", re.IGNORECASE)
_BELOW = r"under|below|less than|fewer than|up to|at most|no more than|younger than|shorter than|lighter than"
_ABOVE = r"over|above|more than|at least|no less than|older than|longer than|heavier than|exceeding"
_NUMBER = r"(?P<amount>\W?\d[\d.,]*(?: ?[^\W\d]+)?)"
_BOUND = re.compile(rf"\b(?:(?P<below>{_BELOW})|(?P<above>{_ABOVE}))(?: the age of)? {_NUMBER}", re.IGNORECASE)
OPPOSED = re.compile(rf"{_NON.pattern}|{_BOUND.pattern}", re.IGNORECASE)
"""A question that the function here is for."""


def is_of_opposite(question: str, text: str) -> bool:
    """Whether *question* names "non-members" and *text* members alone, or both have bounds that exclude each other.

    "Vessels under 8 metres" tells nothing of vessels over 30 metres; other units are not compared.
    """
    said = words(text)
    plain = frozenset(map(stem, said))
    for noun in _NON.findall(question):
        if stem(noun.lower()) in plain and not _NON.search(text) and "not" not in said:
            return True
    asked, told = _bounds(question), _bounds(text)
    pairs = [(mine, theirs) for unit, *mine in asked for other, *theirs in told if unit == other]
    return bool(pairs) and not any(max(mine[0], theirs[0]) < min(mine[1], theirs[1]) for mine, theirs in pairs)


def _bounds(text: str) -> list[tuple[str, float, float]]:
    """Return (unit, from, to) for each bound in *text*: "over 30 metres" is ("length", 30, inf)."""
    found: list[tuple[str, float, float]] = []
    for match in _BOUND.finditer(text):
        for _, _, readings in amounts(match["amount"])[:1]:
            for reading in readings[:1]:
                if isinstance(reading.value, float | int):
                    value = float(reading.value)
                    found.append((reading.unit, -inf, value) if match["below"] else (reading.unit, value, inf))
    return found
