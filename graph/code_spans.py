"""Find code in Markdown: fenced blocks and `` `inline` `` code. Code cites nothing."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import itemgetter

from graph.sentences import Span

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})([^\n]*)")
_INLINE = re.compile(
    "|".join(rf"(?<!`)`{{{n}}}(?!`)(?:[^`\n]|(?!`{{{n}}}(?!`))`+(?!`))++`{{{n}}}(?!`)" for n in (1, 2, 3))
)
"""One to three backticks, closed on the same line by the next run of the same length."""


def code_spans(text: str) -> list[Span]:
    """Return offsets (start, end) of the code in *text*, in order and disjoint, in linear time.

    A fence that is never closed holds the rest of the text, as in CommonMark; inline code ends on its own line.
    """
    if "`" not in text and "~~~" not in text:
        return []
    spans: list[Span] = []
    opened: tuple[int, str] | None = None
    start = 0
    for line in text.split("\n"):
        end = min(start + len(line) + 1, len(text))
        fence = _FENCE.match(line)
        if opened is not None:
            if fence and fence[1].startswith(opened[1]) and not fence[2].strip():
                spans.append((opened[0], end))
                opened = None
        elif fence and "`" not in fence[2]:
            opened = (start, fence[1])
        else:
            spans.extend((start + found.start(), start + found.end()) for found in _INLINE.finditer(line))
        start = end
    return spans if opened is None else [*spans, (opened[0], len(text))]


def code_within(code: Sequence[Span], start: int, end: int) -> Sequence[Span]:
    """Return those of the spans *code*, in order and disjoint, that hold a character of *start*:*end*."""
    return code[bisect_right(code, start, key=itemgetter(1)) : bisect_left(code, end, key=itemgetter(0))]
