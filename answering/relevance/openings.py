"""Tell sentences apart by what they open with, in scripts without capitals: 西仓库… is about another than 南仓库….

In Chinese, Japanese and Hindi a sentence, and a question, mostly opens with what it is about.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import pairwise

import regex

from answering.types import Chunk

LONGEST = 6
"""Units of the longest name that tells one from others."""
_UNIT = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}ー]|[A-Za-z]+|\d+|[\p{L}\p{M}]+")
"""A letter of a script that writes no spaces, else a word."""
_ASKS = regex.compile(r"[谁誰几幾哪何怎多什ど]|いく|いつ|なぜ|क(?:ौन|िस|ितन|ब|हाँ|ैस|्य)")
"""What an interrogative begins with, which stands in the place of a name."""
Units = tuple[str, ...]


def of_other_opening(question: str, chunks: Sequence[Chunk]) -> Iterator[tuple[int, int]]:
    """Yield the places, chunk and sentence, that open with another of the kind that *question* opens with.

    There is the one that is asked for, opening a sentence, or others in its place in several; or a letter or number
    tells them apart.
    """
    asked = _units(question)
    texts = {(at, n): _units(text) for at, chunk in enumerate(chunks) for n, text in enumerate(chunk.sentences)}
    found = {place: exchange for place, units in texts.items() if (exchange := _exchange(asked, units))}
    for place, (name, rival, same) in found.items():
        rivals = {theirs for mine, theirs, kind in found.values() if (mine, kind[:2]) == (name, same[:2])}
        opens = any(units[: len(name) + 1] == (*name, same[0]) for units in texts.values())
        kind = len(same) > 1 and len(rivals) > 1 and not _ASKS.search("".join(name))
        if opens or kind or "".join((*name, *rival)).isascii():
            yield place


def _units(text: str) -> Units:
    return tuple(_UNIT.findall(text.casefold()))


def _exchange(question: Units, sentence: Units) -> tuple[Units, Units, Units] | None:
    """Return the first words in which both differ, and what follows in both; None where they do not open with them.

    A letter or number may follow the word that it belongs to, in both.
    """
    codes = SequenceMatcher(None, question, sentence, autojunk=False).get_opcodes()
    for (kind, i, j, k, m), (_, a, b, _, _) in pairwise(codes):
        name, rival = question[i:j], sentence[k:m]
        if kind == "equal" and i == k == 0:
            continue
        label = "".join((*name, *rival)).isascii()
        if kind != "replace" or max(len(name), len(rival)) > LONGEST or (i and not (label and i == k)):
            return None
        return name, rival, question[a:b]
    return None
