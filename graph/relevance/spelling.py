"""Misspelt words of a question: read as what the candidates say, or as a word that says nothing."""

from __future__ import annotations

from collections.abc import Callable, Collection
from itertools import takewhile

from graph.relevance.english import is_common
from graph.terms import IDLE_STEMS, OPEN, Wanted

LEAST_LETTERS = 4
"""A shorter word has too many neighbours to be read as one of them."""
LEAST_IDLE_LETTERS = 3
"""The same for words that only ask, or join others: the candidates' names are not theirs to hold."""


def mended(question: Wanted, vocabulary: Callable[[], Collection[str]]) -> Wanted:
    """*question*, its misspelt words read as they were meant; the *vocabulary* is that of all candidates.

    Misspelt is a word that neither the candidates hold nor English often has, and that is one slip from one of them:
    a letter more, less or other, or two neighbours swapped (Damerau, 1964). The first letter is taken for right.
    A stop word or a question word with a letter left out, or two swapped, is left out, as they are.
    """
    odd = [(stem, opening) for stem, opening, _ in question.shares if _is_odd(stem)]
    if not odd:  # as in most questions
        return question
    held = vocabulary()
    read = {stem: _read(stem, held) for stem, opening in odd if stem not in held and opening not in held}
    if not read:
        return question
    kept = [(read.get(stem, stem), share) for stem, _, share in question.shares]
    total = sum(share for stem, share in kept if stem)
    if not total:
        return question
    return Wanted.of([(stem, share / total) for stem, share in kept if stem])


def _is_odd(stem: str) -> bool:
    return len(stem) >= LEAST_IDLE_LETTERS and stem.isalpha() and not is_common(stem)


def _read(stem: str, held: Collection[str]) -> str:
    """What *stem* stands for, itself if nothing is near to it, "" for a word that says nothing."""
    if len(stem) >= LEAST_LETTERS:
        near = [one for one in held if one[0] == stem[0] and one[-1] != OPEN and is_slip(stem, one)]
        if near:
            return min(near, key=lambda one: (abs(len(one) - len(stem)), one))
    return "" if any(one[0] == stem[0] and _is_hasty(stem, one) for one in IDLE_STEMS) else stem


def _is_hasty(written: str, meant: str) -> bool:
    """Whether a letter was left out, or two swapped: of other slips an abbreviation could be taken for one ("IAS")."""
    return is_slip(written, meant) and (len(written) < len(meant) or sorted(written) == sorted(meant))


def is_slip(written: str, meant: str) -> bool:
    """Whether a letter more, less or other, or two neighbours swapped, makes the one of the other."""
    if abs(len(written) - len(meant)) > 1 or written == meant:
        return False
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(written, meant, strict=False)))
    one, other = written[same:], meant[same:]
    return (
        one[1:] == other[1:]
        or one[1:] == other
        or one == other[1:]
        or (one[:2] == other[1::-1] and one[2:] == other[2:])
    )
