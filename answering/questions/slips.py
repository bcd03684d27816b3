"""Mend slips of the keyboard in a question, by the words of the passages that were found for it."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from answering.text.terms import is_common, is_content, stem

SHORTEST = 5
"""Letters of the shortest word that is mended: shorter ones have too many neighbours."""
ALIKE = 0.85
"""Ratio of ``difflib`` from which two words are one, misspelled: a letter too few or too many of five, or two of
twelve. Words that differ by one letter in its place ("north", "forth") are two."""
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")


def mended(question: str, texts: Iterable[str]) -> str:
    """Return *question* with each word that neither English nor the *texts* have as the nearest one of the texts.

    A word with a capital letter, but for the first one, is a name, and stays; so does one that is near to names alone,
    or only to words of another first letter ("unregistered").
    """
    found = [match for match in _WORD.finditer(question) if _may_be_slip(match)]
    if not found:
        return question
    seen = {word for text in texts for word in _WORD.findall(text)}
    known = {stem(word.lower()) for word in seen}
    plain = {word.lower() for word in seen if word.islower() or is_common(stem(word.lower()))}
    for match in reversed(found):
        typed = match[0].lower()
        nearest = get_close_matches(typed, [word for word in plain if word[0] == typed[0]], n=1, cutoff=ALIKE)
        if nearest and stem(typed) not in known:
            question = f"{question[: match.start()]}{nearest[0]}{question[match.end() :]}"
    return question


def _may_be_slip(match: re.Match[str]) -> bool:
    """Whether a word of a question is long enough, no name, and not known to be one of English."""
    word, name = match[0].lower(), match[0][0].isupper() and match.start() > 0
    return len(word) >= SHORTEST and not name and is_content(word) and not is_common(stem(word))
