"""What a sentence asserts that must not change: its numbers, its names, and what it denies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from graph.terms import stem, stems, words

_NUMBER = re.compile(r"\d+(?:[.,:/]\d+)*")
_NUMBER_WORDS = {
    word: str(value)
    for value, word in enumerate(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
        "seventeen eighteen nineteen twenty".split()
    )
} | {"thirty": "30", "forty": "40", "fifty": "50", "sixty": "60", "seventy": "70", "eighty": "80", "ninety": "90"}
_AMBIGUOUS = frozenset({"one"})  # "the one that", "no one": a pronoun as often as a number
_NEGATIONS = frozenset(
    "not no never none nobody nothing neither nor cannot without n't unable hardly isn't aren't wasn't weren't don't "
    "doesn't didn't won't wouldn't can't couldn't shouldn't mustn't hasn't haven't hadn't nicht".split()
)
_NAME = re.compile(r"(?<![\w.])[A-Z][\w'’-]*|\b\w*[a-z]\w*[A-Z]\w*")
_REACH = 4
"""How many words after a negation it is taken to deny (a clause's head rarely lies further)."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence, taken apart.

    ``numbers`` are normalised ("1,000" and "1000" are one, "five" is "5"); ``names`` are stems of capitalised words;
    ``opening`` is the stem of a capitalised first word, which may be a name or only the start of a sentence;
    ``denied`` are the stems within reach of a negation.
    """

    stems: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    opening: str | None
    denied: frozenset[str]


@lru_cache(maxsize=4096)
def claim_of(sentence: str) -> Claim:
    """Take *sentence* apart."""
    content = stems(sentence)
    return Claim(
        stems=frozenset(content),
        numbers=numbers_of(sentence),
        names=_names(sentence),
        opening=_opening(sentence, content),
        denied=_denied(sentence),
    )


def numbers_of(text: str) -> frozenset[str]:
    """The numbers in *text*, in digits or as English words, in one writing."""
    digits = {_plain(found) for found in _NUMBER.findall(text)}
    spelled = {_NUMBER_WORDS[word] for word in words(text) if word in _NUMBER_WORDS and word not in _AMBIGUOUS}
    return frozenset(digits | spelled)


def _plain(number: str) -> str:
    """"1,000" as "1000", "2.50" as "2.5", "007" as "7"."""
    whole = re.sub(r",(?=\d{3}(?:\D|$))", "", number)
    if re.fullmatch(r"\d+\.\d+", whole):
        whole = whole.rstrip("0").rstrip(".")
    return whole.lstrip("0") or "0"


def _names(sentence: str) -> frozenset[str]:
    """Stems of capitalised words inside the sentence; its first word is left to ``opening``."""
    first = re.search(r"\w", sentence)
    found = {
        match[0].rstrip("'’-")
        for match in _NAME.finditer(sentence)
        if first and match.start() > first.start() and not re.search(r"[.!?:]\s+\Z", sentence[: match.start()])
    }
    return frozenset(stem(word) for name in found for word in words(name) if name not in ("I",) and stems(name))


def _opening(sentence: str, content: tuple[str, ...]) -> str | None:
    found = re.match(r"\W*([A-Z][\w’'-]*)", sentence)
    if not found:
        return None
    opening = stems(found[1])
    return opening[0] if opening and content else None


def _denied(sentence: str) -> frozenset[str]:
    tokens = re.findall(r"[\w'’]+", sentence.lower().replace("’", "'"))
    denied: set[str] = set()
    for i, token in enumerate(tokens):
        if token in _NEGATIONS or token.endswith("n't"):
            denied.update(stem for word in tokens[i + 1 : i + 1 + _REACH] for stem in stems(word))
    return frozenset(denied)
