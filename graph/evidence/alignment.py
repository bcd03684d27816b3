"""A claim laid word by word on its quote: what was put in, taken out or exchanged between words they share."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher
from typing import Literal

from graph.evidence import lexicon
from graph.evidence.demonyms import DEMONYMS
from graph.evidence.quantities import quantities_of
from graph.terms import is_content, stem

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_MOST_WORDS = 120
"""Words of a sentence that are laid on another; what goes beyond is not looked at."""
_MOST_EXCHANGED = 3
"""Words on either side of an exchange; longer ones are another way of saying it."""


def exchanged(claim: str, quote: str) -> Literal["denial", "number", "name"] | None:
    """What one small edit changed between the words that *claim* and *quote* share in order; None when nothing."""
    own, other = _WORD.findall(claim)[:_MOST_WORDS], _WORD.findall(quote)[:_MOST_WORDS]
    left, right = [_folded(word) for word in own], [_folded(word) for word in other]
    matcher = SequenceMatcher(None, left, right, autojunk=False)
    for kind, i, i_end, j, j_end in matcher.get_opcodes():
        if kind == "equal":
            continue
        if {_denies(left, i, i_end), _denies(right, j, j_end)} == {True, False}:
            return "denial"
        between = (i > 0) == (j > 0) and (i_end < len(left)) == (j_end < len(right))
        if kind == "replace" and between and max(i_end - i, j_end - j) <= _MOST_EXCHANGED:
            if _another_number(own[i:i_end], other[j:j_end]):
                return "number"
            moved = set(left[i:i_end]) <= set(right) and set(right[j:j_end]) <= set(left)
            if not moved and _another_name(own[max(i, 1) : i_end], other[j:j_end]):
                return "name"  # moved ones are a list in another order
    return None


def _folded(word: str) -> str:
    return word.lower().replace("’", "'").removesuffix("'s")


def _denies(words: Sequence[str], start: int, end: int) -> bool | None:
    """Whether a stretch of function words denies; None for one with content, which is another clause."""
    denials = 0
    for i in range(start, end):
        word = words[i]
        if word in lexicon.NEGATORS or word.endswith("n't"):
            denials += (word, words[i + 1] if i + 1 < end else "") not in lexicon.NOT_A_DENIAL
        elif is_content(word) and not word.endswith("ly"):
            return None
    return denials % 2 == 1


def _another_number(own: Sequence[str], other: Sequence[str]) -> bool:
    left, right = ({q.value for q in quantities_of(" ".join(words))} for words in (own, other))
    return bool(left and right and not left & right)


def _another_name(own: Sequence[str], other: Sequence[str]) -> bool:
    left, right = _names(own), _names(other)
    if not left or not right or left & right:
        return False
    acronyms = {"".join(word[0] for word in words if word[0].isupper()).lower() for words in (own, other)}
    return not acronyms & (left | right) and not any(DEMONYMS.get(name, frozenset()) & right for name in left)


def _names(words: Collection[str]) -> set[str]:
    return {stem(_folded(word)) for word in words if word[0].isupper() and is_content(word.lower())}
