"""Numbers that are spelled in English words, found among the tokens of a sentence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph.evidence.number_words import ONES, ORDINALS, SCALES, TENS

_NOT_ONE = frozenset("no the this that each every any some which another".split())
_ONE_NOT = frozenset("of another can should must who that which is could may might would or has to day more".split())


@dataclass(frozen=True, slots=True)
class Token:
    """A number, a word, a date or a sign in lower case, and where it stands."""

    text: str
    kind: str
    start: int
    end: int


_MOST_WORDS = 20
"""Words of one number; a longer row of them is none."""


def spelled_length(tokens: Sequence[Token], i: int) -> int:
    """How many tokens from *i* on spell one number; 0 where none does, or where "one" is a pronoun."""
    end = i
    while end < min(len(tokens), i + _MOST_WORDS) and (_is_number_word(tokens[end].text) or _joins(tokens, i, end)):
        end += 1
    if end == i or (tokens[i].text in SCALES and (i == 0 or tokens[i - 1].text not in ("a", "one", "per"))):
        return 0
    if end == i + 1 and tokens[i].text == "one":
        before = tokens[i - 1].text if i else ""
        after = tokens[end].text if end < len(tokens) else ""
        if before in _NOT_ONE or after in _ONE_NOT or not after:
            return 0
    return end - i


def _is_number_word(word: str) -> bool:
    return word in ONES or word in TENS or word in SCALES


def _joins(tokens: Sequence[Token], begin: int, at: int) -> bool:
    """Whether the "and" at *at* stands inside a number: "one hundred and five"."""
    return (
        tokens[at].text == "and"
        and at > begin
        and tokens[at - 1].text in SCALES
        and at + 1 < len(tokens)
        and (tokens[at + 1].text in ONES or tokens[at + 1].text in TENS)
    )


def ordinal_behind(tokens: Sequence[Token], end: int) -> int:
    """1 to 9 where the tokens before *end* go on as in "twenty-first", else 0."""
    if end < len(tokens) and tokens[end - 1].text in TENS and ORDINALS.get(tokens[end].text, 10) < 10:
        return ORDINALS[tokens[end].text]
    return 0


def spelled_value(tokens: Sequence[Token]) -> int:
    """The number that *tokens* spell: 25105 for "twenty-five thousand one hundred and five"."""
    total = current = 0
    for token in tokens:
        if token.text in ONES or token.text in TENS:
            current += ONES.get(token.text, 0) + TENS.get(token.text, 0)
        elif token.text in SCALES:
            current = max(current, 1) * SCALES[token.text]
            if SCALES[token.text] >= 1000:
                total, current = total + current, 0
    return total + current
