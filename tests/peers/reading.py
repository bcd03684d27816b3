"""What stands in for a model inside a peer: the sentence that shares most words with the question, and a vector."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Sequence

_WORD = re.compile(r"\w+")
_COMMON = frozenset(
    "a an and are at be by do does for from how in is it of on or the to was what when where who".split()
)
DIMENSION = 64


def words(text: str) -> set[str]:
    return {word for word in _WORD.findall(text.lower()) if word not in _COMMON}


def best_sentence(question: str, texts: Sequence[str]) -> tuple[int, str] | None:
    """The 0-based place of a text and its sentence that share most with *question*; None when none shares a word."""
    wanted = words(question)
    options = [
        (len(wanted & words(sentence)), -place, sentence)
        for place, text in enumerate(texts)
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", text.strip())
    ]
    shared, place, sentence = max(options, default=(0, 0, ""))
    return (-place, sentence) if shared else None


def overlap(question: str, text: str) -> float:
    """A score in (0, 1): the share of the question's words that *text* has."""
    wanted = words(question)
    share = len(wanted & words(text)) / len(wanted) if wanted else 0.0
    return 0.01 + 0.98 * share


def vector(text: str) -> list[float]:
    """A unit vector of hashed words: texts that share words are near each other, in every process alike."""
    values = [0.0] * DIMENSION
    for word in words(text):
        digest = hashlib.sha256(word.encode()).digest()
        values[digest[0] % DIMENSION] += 1.0 if digest[1] % 2 else -1.0
    norm = math.sqrt(sum(value * value for value in values)) or 1.0
    return [value / norm for value in values]
