"""Tell sentences on the opposite of what a question names: non-members, another amount, another bound."""

import re
from math import inf

from answering.text.amounts import amounts
from answering.text.terms import stem, words

_NON = re.compile(r"\bnon-?(?=\w{3})(\w+)", re.IGNORECASE)
_DENIES = re.compile(
    r"\b(?:not|no|non|without|missed|missing|late|others?|else|everyone|everybody|guests|visitors|un\w+)\b|\bnon\w",
    re.IGNORECASE,
)
"""What may speak of non-members in other words."""
_BELOW = r"under|below|less than|fewer than|up to|at most|no more than|younger than|shorter than|lighter than"
_ABOVE = r"over|above|more than|at least|no less than|older than|longer than|heavier than|exceeding"
_NUMBER = r"\W?\d[\d.,]{0,12}(?: ?[^\W\d]{1,20})?"
_BOUND = re.compile(
    rf"(?:\b(?P<noun>[^\W\d]{{1,30}}) )?\b(?:(?P<below>{_BELOW})|(?P<above>{_ABOVE}))(?: the age of)?"
    rf" (?P<bound>{_NUMBER})",
    re.IGNORECASE,
)
_OR_MORE = re.compile(
    r" ?(?:\+|(?:or|and) (?:more|less|longer|shorter|older|younger|above|below|over|under|later|up)\b)"
)
_AMOUNT_OF = re.compile(rf"(?<![\w-])(?P<noun>[a-z][\w-]{{1,30}}) of (?P<value>{_NUMBER})", re.IGNORECASE)
_KEY = re.compile(rf"(?P<column>[^:;]+): (?P<key>{_NUMBER});")
"""The first cell of a row, with the name of its column, that is an amount: "Board: 5 m; …"."""
_LIMITS = re.compile(r"\b(?:up to|from|max\w*|min\w*|until|over|under)\b", re.IGNORECASE)
_NEXT, _LAST = re.compile(r"\b(?:next|due|again|every)\b", re.IGNORECASE), re.compile(r"\blast\b", re.IGNORECASE)
_ASKS_TURN = re.compile(r"\bwhen\b.{0,80}\b(next|last)\b", re.IGNORECASE)
OPPOSED = re.compile(rf"{_NON.pattern}|\d|{_ASKS_TURN.pattern}", re.IGNORECASE)
"""A question that the function here is for."""
Value = tuple[str, float]
"""A unit, "" for none, and a number of it."""


def is_of_opposite(question: str, text: str) -> bool:
    """Whether *text* is about the opposite, or the rival, of what *question* names.

    That is members for "non-members"; a bound that excludes the one of the question ("under 8 metres" for "over 30");
    another amount as the first cell of a row ("5 m" for the 10 m board), or of the same thing ("a top-up of 50 euros"
    for one of 200); and the last inspection for the next one. Amounts of other units are not compared.
    """
    return (
        _of_members(question, text)
        or _of_other_bound(question, text)
        or _of_other_amount(question, text)
        or _of_other_turn(question, text)
    )


def _of_members(question: str, text: str) -> bool:
    nouns = [stem(noun.lower()) for noun in _NON.findall(question)]
    if not nouns or _DENIES.search(text):
        return False
    plain = frozenset(map(stem, words(text)))
    return any(noun in plain for noun in nouns)


def _of_other_bound(question: str, text: str) -> bool:
    """Whether *text* has a bound of what *question* bounds that excludes it, and no amount that is within it."""
    asked = _bounds(question)
    told = _bounds(text) if asked else []
    values = _values(text) if told else set()
    for noun, unit, low, high in asked:
        rivals = [other for other in told if other[1] == unit and (unit or other[0] == noun != "")]
        within = any(other == unit and low < value < high for other, value in values)
        if rivals and not within and not any(max(low, start) < min(high, end) for _, _, start, end in rivals):
            return True
    return False


def _bounds(text: str) -> list[tuple[str, str, float, float]]:
    """Return (noun, unit, from, to) of each bound in *text*: "boats over 30 metres" is ("boat", "length", 30, inf)."""
    found = []
    for match in _BOUND.finditer(text):
        noun = stem((match["noun"] or "").lower())
        for unit, value in _values(match["bound"]):
            found.append((noun, unit, -inf, value) if match["below"] else (noun, unit, value, inf))
    return found


def _of_other_amount(question: str, text: str) -> bool:
    asked = {value for value in _values(_BOUND.sub(" ", question)) if value[0]}
    if not asked or asked & _values(text):
        return False
    units = {unit for unit, _ in asked}
    key = _KEY.match(text)
    if key and not _LIMITS.search(key["column"]) and {unit for unit, _ in _values(key["key"])} == units:
        return True
    return any(
        stem(mine["noun"].lower()) == stem(theirs["noun"].lower())
        and not _OR_MORE.match(text, theirs.end())
        and {unit for unit, _ in _values(mine["value"])} == {unit for unit, _ in _values(theirs["value"])} <= units
        for mine in _AMOUNT_OF.finditer(question)
        for theirs in _AMOUNT_OF.finditer(text)
    )


def _values(text: str) -> set[Value]:
    """Return the amounts of *text* that are numbers, each with its unit."""
    first = [readings[0] for _, _, readings in amounts(text) if readings]
    return {(reading.unit, float(reading.value)) for reading in first if isinstance(reading.value, float | int)}


def _of_other_turn(question: str, text: str) -> bool:
    asked = _ASKS_TURN.search(question)
    if not asked:
        return False
    mine, theirs = (_NEXT, _LAST) if asked[1].lower() == "next" else (_LAST, _NEXT)
    return bool(theirs.search(text)) and not mine.search(text)
