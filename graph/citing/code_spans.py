"""Where code stands in Markdown: fenced blocks and `` `inline` `` code. What is in code cites nothing."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import itemgetter

from graph.sentences import Span

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})([^\n]*)")
_TICKS = re.compile(r"`+")


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
            spans.extend(_inline(line, start))
        start = end
    if opened is not None:
        spans.append((opened[0], len(text)))
    return spans


def code_within(code: Sequence[Span], start: int, end: int) -> Sequence[Span]:
    """Those of the spans *code*, in order and disjoint, that hold a character of *start*:*end*."""
    return code[bisect_right(code, start, key=itemgetter(1)) : bisect_left(code, end, key=itemgetter(0))]


def _inline(line: str, offset: int) -> Iterator[Span]:
    """Inline code of one line: a run of backticks, closed by the next run of the same length."""
    runs = [found.span() for found in _TICKS.finditer(line)]
    later: dict[int, list[int]] = {}
    for place in range(len(runs) - 1, -1, -1):
        later.setdefault(runs[place][1] - runs[place][0], []).append(place)
    place = 0
    while place < len(runs):
        start, end = runs[place]
        same = later[end - start]
        while same and same[-1] <= place:
            same.pop()
        if same:
            place = same.pop()
            yield offset + start, offset + runs[place][1]
        place += 1
