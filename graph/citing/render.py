"""Write the answer as text, in the two ways the documents write a citation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import groupby

from graph.state import Citation

_CLOSING = re.compile(r"(?<![.!?])[.!?][\"'”’)*_]{0,3}\Z")
_GOES_ON = re.compile(r"[ \t]*[^\W\d_A-Z]")
_ABBREVIATED = re.compile(r"\b[A-Za-z]\.[A-Za-z]\.\Z")
_NEAR = 8
"""Characters before a marker that are searched for the end of its sentence."""


def numbered(pieces: Sequence[str | int], citations: Sequence[Citation]) -> str:
    """Write markers as ``[k]``, the k-th cited document (Query API)."""
    return _render(pieces, citations, lambda citation: f"[{citation.marker}]")


def named(pieces: Sequence[str | int], citations: Sequence[Citation]) -> str:
    """Write markers as ``[safety_manual.pdf, page 5]``, or ``, section Y``, or the name alone (Library)."""
    return _render(pieces, citations, _source)


def _source(citation: Citation) -> str:
    """Name document and page of a citation; brackets in names become parentheses."""
    detail = f", section {citation.section}" if citation.section else ""
    detail = detail if citation.page is None else f", page {citation.page}"
    return f"[{' '.join((citation.source.strip() + detail).replace('[', '(').replace(']', ')').split())}]"


def _render(pieces: Sequence[str | int], citations: Sequence[Citation], write: Callable[[Citation], str]) -> str:
    """Join the pieces; a marker follows its words and precedes their full stop, each once at its position."""
    runs = [list(run) for _, run in groupby(pieces, key=lambda piece: isinstance(piece, str))]
    out: list[str] = []
    for i, run in enumerate(runs):
        markers = dict.fromkeys(write(citations[index]) for index in run if isinstance(index, int))
        if not markers:
            out += [str(piece) for piece in run]
            continue
        words, end = "".join(out).rstrip(" \t"), ""
        after = str(runs[i + 1][0]) if i + 1 < len(runs) else ""
        near = max(0, len(words) - _NEAR)
        closing = _CLOSING.search(words, near)
        if closing and not _GOES_ON.match(after) and not _ABBREVIATED.search(words, near):
            words, end = words[: closing.start()], closing[0]
        gap = " " if words and not words.endswith("\n") else ""
        out = [f"{words}{gap}{''.join(markers)}{end}"]
    return "".join(out).strip()
