"""Find a sentence in a text as it stands there."""

import re
from itertools import islice

from answering.text.sentences import Span

_NO_WORD_BEFORE, _NO_WORD_AFTER = r"(?<![^\W_])", r"(?![^\W_])"
_NO_NUMBER_BEFORE, _NO_NUMBER_AFTER = r"(?<!\d[.,])(?<![-−])", r"(?![.,]\d|%)"
"""Around a sentence that is found verbatim: no word, and no number, is cut in two."""
_MAX_POSITIONS = 20
"""Places of a text that are looked at where it has a sentence again and again."""


def verbatim_spans(sentence: str, text: str) -> list[Span]:
    """Find *sentence* verbatim in *text*, but for white space, first capital and closing mark.

    No word or number is cut in two: "42" is not found in "1942" or "42.5".
    """
    normalized, flat = " ".join(sentence.split()), " ".join(text.split())
    for form in dict.fromkeys((normalized, normalized.rstrip(".!?… "))):
        if form and form[1:] in flat:
            words = f"(?i:{re.escape(form[0])})" + r"\s+".join(map(re.escape, form[1:].split(" ")))
            before = _NO_WORD_BEFORE if form[0].isalnum() else ""
            after = _NO_WORD_AFTER if form[-1].isalnum() else ""
            if form[0].isdigit():
                before += _NO_NUMBER_BEFORE
            if form[-1].isdigit():
                after += _NO_NUMBER_AFTER
            if spans := [m.span() for m in islice(re.finditer(before + words + after, text), _MAX_POSITIONS)]:
                return spans
    return []
