"""Where code stands in Markdown: fenced blocks and `` `inline` `` code. What is in code cites nothing."""

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
"""A run of one to three backticks, closed on its line by the next run of the same length."""


def code_spans(text: str) -> list[Span]:
    """Offsets (start, end) of the code in *text*, in order and disjoint, in time linear in its length.

    A fence that is never closed holds the rest of the text, as in CommonMark; inline code ends on its own line.
    """
    if "`" not in text and "~~~" not in text:
        return []
    spans: list[Span] = []
    opened: tuple[int, str] | None = None
    start = 0
    while start < len(text):
        end = text.find("\n", start) + 1 or len(text)
        line = text[start:end]
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
    if opened is not None:
        spans.append((opened[0], len(text)))
    return spans


def code_within(code: Sequence[Span], start: int, end: int) -> Sequence[Span]:
    """Those of the spans *code*, in order and disjoint, that hold a character of *start*:*end*."""
    return code[bisect_right(code, start, key=itemgetter(1)) : bisect_left(code, end, key=itemgetter(0))]
