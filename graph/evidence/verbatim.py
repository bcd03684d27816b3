"""Where a sentence stands word for word in a chunk."""

from __future__ import annotations

import re
from collections.abc import Iterator

from graph.sentences import Span

_MOST_PLACES = 20
"""How many places of a short fragment are looked at."""


def verbatim_spans(sentence: str, text: str) -> Iterator[Span]:
    """Where *sentence* stands in *text* letter for letter, white space and its closing mark aside, whole words only."""
    wanted = " ".join(sentence.split())
    bare = wanted.rstrip(".!?… ")
    for form in dict.fromkeys((wanted, bare)):
        found = list(_places(form, text)) if form else []
        if found:
            yield from found
            return


def _places(wanted: str, text: str) -> Iterator[Span]:
    flat = text if wanted in text else None
    if flat is None:
        if wanted not in " ".join(text.split()):
            return
        pattern = re.compile(r"\s+".join(re.escape(word) for word in wanted.split(" ")))
        spans = [found.span() for found in pattern.finditer(text)][:_MOST_PLACES]
    else:
        spans = []
        start = text.find(wanted)
        while start >= 0 and len(spans) < _MOST_PLACES:
            spans.append((start, start + len(wanted)))
            start = text.find(wanted, start + 1)
    yield from (span for span in spans if _whole_words(text, span))


def _whole_words(text: str, span: Span) -> bool:
    """Whether *span* cuts no word or number in two: "42" is not in "1942" or "42.5"."""
    start, end = span
    before, first = text[max(0, start - 2) : start], text[start : start + 1]
    last, after = text[end - 1 : end], text[end : end + 2]
    if first.isalnum() and (before[-1:].isalnum() or (first.isdigit() and re.search(r"\d[.,]\Z|[-−]\Z", before))):
        return False
    return not (last.isalnum() and (after[:1].isalnum() or (last.isdigit() and re.match(r"[.,]\d|%", after))))
