"""Whether a text speaks of another year than the one asked about, or of another of what goes by numbers ("ROS 1")."""

from __future__ import annotations

import re
from itertools import pairwise

from graph.terms import stem, words

MOST_READ = 10_000
"""A text of more characters is not gone through: so much of it names this year and that."""

_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_DIGITS = re.compile(r"\d+")


def names_another(question: str, text: str) -> bool:
    """Whether *question* names a year or a number that *text* does not, and *text* another one in its place.

    In a year's place stands any year, in a number's one that follows the same word: for "Heron 4", "Heron 2".
    """
    asked = words(question)
    if len(text) > MOST_READ or not any(word[0].isdigit() for word in asked):
        return False
    found = words(text)
    held = {digits for word in found for digits in (word, *_DIGITS.findall(word))}
    missing = {word for word in asked if word[0].isdigit() and word not in held}
    if any(map(_YEAR.fullmatch, missing)):
        return any(map(_YEAR.fullmatch, held))
    numbered = {name for name, number in _numbered(asked) if number in missing}
    return any(name in numbered for name, _ in _numbered(found))


def _numbered(found: list[str]) -> list[tuple[str, str]]:
    """The stems that numbers follow, each with its number."""
    return [(stem(name), number) for name, number in pairwise(found) if number[0].isdigit() and name.isalpha()]
