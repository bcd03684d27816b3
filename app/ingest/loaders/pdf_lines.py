"""The lines of a PDF: which of them are the text, and in what size it is set."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

EDGE = 2
"""So many lines at the top and at the bottom of a page may be running heads, feet and page numbers."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of type: its words, its size in points (0 where unknown) and its height on the page in points."""

    text: str
    size: float
    height: float


def without_running_lines(pages: Sequence[Sequence[Line]]) -> list[list[Line]]:
    """Drop what repeats at the edges of at least half the pages (and of three), and page numbers that stand there.

    Lines larger than the text are headings, and stay.
    """
    if not any(pages):
        return []
    body = body_size(pages)
    seen = Counter(key for page in pages for key in {_key(line) for line in (*page[:EDGE], *page[-EDGE:])})
    enough = max(3, (len(pages) + 1) // 2)
    running = {key for key, count in seen.items() if count >= enough} | {"#"}

    def runs(line: Line) -> bool:
        return line.size <= body and _key(line) in running

    kept: list[list[Line]] = []
    for page in pages:
        first = sum(1 for _ in takewhile(runs, page[:EDGE]))
        last = sum(1 for _ in takewhile(runs, reversed(page[first:][-EDGE:])))
        kept.append(list(page[first : len(page) - last]))
    return kept


def body_size(pages: Sequence[Sequence[Line]]) -> float:
    """The size most of the text is set in."""
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page:
            sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0]


def _key(line: Line) -> str:
    """A line with every number as ``#``, so that page numbers do not tell running lines apart."""
    return re.sub(r"\d+", "#", line.text.strip(" -–—|.")).casefold()
