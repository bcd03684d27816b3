"""Tell sentences on the opposite of what a question names: non-members, another amount, another part of a name."""

import re
from math import inf

from answering.text.amounts import amounts
from answering.text.terms import stem, words

_NON = re.compile(r"\bnon-?(?=\w{3})(\w+)", re.IGNORECASE)
_COMPOUND = re.compile(r"\b[A-Za-z]\w+(?:[._/][A-Za-z]\w+)+")
"""A name of several parts: "dead.RAW"."""
_BELOW = r"under|below|less than|fewer than|up to|at most|no more than|younger than|shorter than|lighter than"
_ABOVE = r"over|above|more than|at least|no less than|older than|longer than|heavier than|exceeding"
_NUMBER = r"\W?\d[\d.,]*(?: ?[^\W\d]+)?"
_BOUND = re.compile(
    rf"\b(?:(?P<below>{_BELOW})|(?P<above>{_ABOVE}))(?: the age of)? (?P<bound>{_NUMBER})", re.IGNORECASE
)
_AMOUNT_OF = re.compile(rf"\b(?P<noun>[a-z][\w-]+) of (?P<value>{_NUMBER})", re.IGNORECASE)
_KEY = re.compile(rf"[^:;]+: (?P<key>{_NUMBER});")
"""The first cell of a row, with the name of its column, that is an amount: "Board: 5 m; …"."""
_NEXT, _LAST = re.compile(r"\b(?:next|due|again|every)\b", re.IGNORECASE), re.compile(r"\blast\b", re.IGNORECASE)
_ASKS_TURN = re.compile(r"\bwhen\b.*\b(next|last)\b", re.IGNORECASE)
OPPOSED = re.compile(rf"{_NON.pattern}|{_COMPOUND.pattern}|\d|{_ASKS_TURN.pattern}", re.IGNORECASE)
"""A question that the function here is for."""


def is_of_opposite(question: str, text: str) -> bool:
    """Whether *text* is about the opposite, or the rival, of what *question* names.

    That is members for "non-members"; a bound that excludes the one of the question ("under 8 metres" for "over 30");
    another amount as the first cell of a row ("5 m" for the 10 m board), or of the same thing ("a top-up of 50 euros"
    for one of 200); the last inspection for the next one; and "RAW" for "dead.RAW". Amounts of other units are not
    compared.
    """
    return (
        _of_members(question, text)
        or _of_other_bound(question, text)
        or _of_other_amount(question, text)
        or _of_other_turn(question, text)
        or any(_of_part(name, text) for name in _COMPOUND.findall(question))
    )


def _of_members(question: str, text: str) -> bool:
    said = words(text)
    plain = frozenset(map(stem, said))
    denied = "not" in said or bool(_NON.search(text))
    return not denied and any(stem(noun.lower()) in plain for noun in _NON.findall(question))


def _of_other_bound(question: str, text: str) -> bool:
    asked, told = _bounds(question), _bounds(text)
    pairs = [(mine, theirs) for unit, *mine in asked for other, *theirs in told if unit == other]
    return bool(pairs) and not any(max(mine[0], theirs[0]) < min(mine[1], theirs[1]) for mine, theirs in pairs)


def _bounds(text: str) -> list[tuple[str, float, float]]:
    """Return (unit, from, to) for each bound in *text*: "over 30 metres" is ("length", 30, inf)."""
    found = [(match, amount) for match in _BOUND.finditer(text) for amount in _values(match["bound"])]
    return [(unit, -inf, value) if match["below"] else (unit, value, inf) for match, (unit, value) in found]


def _of_other_amount(question: str, text: str) -> bool:
    asked = _values(question)
    if asked & _values(text):
        return False
    key = _KEY.match(text)
    if key and asked and {unit for unit, _ in asked} == {unit for unit, _ in _values(key["key"])}:
        return True
    return any(
        stem(mine["noun"].lower()) == stem(theirs["noun"].lower())
        and {unit for unit, _ in _values(mine["value"])} == {unit for unit, _ in _values(theirs["value"])}
        for mine in _AMOUNT_OF.finditer(question)
        for theirs in _AMOUNT_OF.finditer(text)
    )


def _values(text: str) -> set[tuple[str, float]]:
    """Return the amounts of *text* that are numbers, each with its unit."""
    first = [readings[0] for _, _, readings in amounts(text) if readings]
    return {(reading.unit, float(reading.value)) for reading in first if isinstance(reading.value, float | int)}


def _of_other_turn(question: str, text: str) -> bool:
    asked = _ASKS_TURN.search(question)
    if not asked:
        return False
    mine, theirs = (_NEXT, _LAST) if asked[1].lower() == "next" else (_LAST, _NEXT)
    return bool(theirs.search(text)) and not mine.search(text)


def _of_part(name: str, text: str) -> bool:
    """Whether *text* has the last part of *name* alone, and neither all of it nor its first part."""
    parts = re.split(r"[._/]", name.lower())
    said = text.lower()
    alone = re.search(rf"(?<![\w._/-]){re.escape(parts[-1])}(?![\w-]|[._/]\w)", said)
    return bool(alone) and name.lower() not in said and parts[0] not in words(said)
