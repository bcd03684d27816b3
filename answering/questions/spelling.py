"""Correct the spelling of a question by the words of the passages that were found for it."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from answering.text.terms import is_common, rare_words, stem

SHORTEST = 5
"""Letters of the shortest word that is corrected: shorter ones have too many neighbours."""
ALIKE = 0.85
"""Ratio of ``difflib`` from which two words are one, misspelled: a letter too few or too many of five, or two of
twelve. Short words that differ by one letter in its place ("north", "forth") are two."""
_WORD = re.compile(r"[^\W\d_]+")


def corrected(question: str, texts: Iterable[str]) -> str:
    """Return *question* with each word that neither English nor the *texts* have as the nearest one of the texts.

    Names stay, and so does a word that is near to names alone, or only to words of another first letter
    ("unregistered").
    """
    seen = {word for text in texts for word in _WORD.findall(text)}
    known = {stem(word.lower()) for word in seen}
    plain = {word.lower() for word in seen if word.islower() or is_common(stem(word.lower()))}
    for match in reversed(rare_words(question)):
        typed = match[0].lower()
        if len(typed) < SHORTEST or stem(typed) in known:
            continue
        near = [word for word in plain if word[0] == typed[0]]
        for nearest in get_close_matches(typed, near, n=1, cutoff=ALIKE):
            question = f"{question[: match.start()]}{nearest}{question[match.end() :]}"
    return question
