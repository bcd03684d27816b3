"""Put Hebrew, Arabic and their like in the order they are read in, by where the letters of a PDF stand."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

_LETTER = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_LEFT_TO_RIGHT = re.compile(r"[^\W_](?:[\w.,:/%+-]*[^\W_])?")
_SWAPPED = str.maketrans("()[]{}<>«»", ")(][}{><»«")
_LOOSE = re.compile("(?<=\\S) (?=[.,:;!?،؛؟)\\]]+(?: |$)|[\u0591-\u05c7\u064b-\u0652])")
"""White space before a mark or a vowel sign that is drawn apart from its word."""
_CLOSES_FIRST = re.compile(r"[^()\[\]{}]*[)\]}]")


def is_right_to_left(text: str) -> bool:
    """Tell whether *text* has a letter of a script that is written from right to left."""
    return bool(_LETTER.search(text))


def read_word(letters: Iterable[tuple[float, str]]) -> str:
    """Return a word of letters with their right edges: from right to left, but for numbers and Latin words in it."""
    ordered = "".join(text for _, text in sorted(letters, key=lambda letter: -letter[0]))
    runs = re.split(f"({_LETTER.pattern}+)", unicodedata.normalize("NFKC", ordered))
    runs[::2] = [_LEFT_TO_RIGHT.sub(lambda found: found[0][::-1], run) for run in runs[::2]]
    return "".join(runs)


def read_line(words: Sequence[tuple[float, str]]) -> str:
    """Return a line of words with their right edges, as it is read.

    Latin words that follow one another, with the numbers after them, are read from left to right. Brackets that are
    drawn the other way round are turned.
    """
    line: list[str] = []
    latin: list[str] = []
    for _, word in sorted(words, key=lambda word: -word[0]):
        if is_right_to_left(word) or not any(map(str.isalnum, word)):
            line += [*_run(latin), word]
            latin = []
        else:
            latin.append(word)
    text = " ".join([*line, *_run(latin)])
    return _LOOSE.sub("", text.translate(_SWAPPED) if _CLOSES_FIRST.match(text) else text)


def _run(words: Sequence[str]) -> Sequence[str]:
    """Return words found from right to left as they are read: numbers alone are read so too."""
    return words[::-1] if any(char.isalpha() for word in words for char in word) else words
