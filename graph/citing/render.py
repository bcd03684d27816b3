"""The answer as text, in the two ways the documents write a citation."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from graph.state import Citation

_CLOSING = re.compile(r"(?<![.!?])[.!?][\"'”’)*_]{0,3}\Z")
_GOES_ON = re.compile(r"[ \t]*[^\W\d_A-Z]")
_SEEN = 8
"""Characters before a marker that tell where it stands: a sentence's end with its quotation marks, an abbreviation."""

_ABBREVIATED = re.compile(r"\b[A-Za-z]\.[A-Za-z]\.\Z")


def numbered(pieces: Sequence[str | int], citations: Sequence[Citation]) -> str:
    """Markers as ``[k]``, the k-th cited document (Door Q)."""
    return _render(pieces, citations, lambda citation: f"[{citation.marker}]")


def named(pieces: Sequence[str | int], citations: Sequence[Citation]) -> str:
    """Markers as ``[safety_manual.pdf, page 5]``, or ``, section Y``, or the name alone (Door L)."""
    return _render(pieces, citations, place_name)


def place_name(citation: Citation) -> str:
    """How door L writes one citation; brackets in names become parentheses, so that the marker ends where it should."""
    name = _unbracketed(citation.source)
    if citation.page is not None:
        return f"[{name}, page {citation.page}]"
    if citation.section:
        return f"[{name}, section {_unbracketed(citation.section)}]"
    return f"[{name}]"


def _unbracketed(text: str) -> str:
    return " ".join(text.replace("[", "(").replace("]", ")").split())


def _render(pieces: Sequence[str | int], citations: Sequence[Citation], write: Callable[[Citation], str]) -> str:
    """Join the pieces; a marker stands a space after its words and before their full stop, each once a spot."""
    out: list[str] = []
    i = 0
    while i < len(pieces):
        piece = pieces[i]
        if isinstance(piece, str):
            out.append(piece)
            i += 1
            continue
        end = next((j for j in range(i, len(pieces)) if isinstance(pieces[j], str)), len(pieces))
        markers = dict.fromkeys(write(citations[place]) for place in pieces[i:end] if isinstance(place, int))
        before = "".join(out).rstrip(" \t")
        after = pieces[end] if end < len(pieces) else ""
        words, tail = _parted(before, after if isinstance(after, str) else "")
        gap = " " if words and not words.endswith("\n") else ""
        out = [f"{words}{gap}{''.join(markers)}{tail}"]
        i = end
    return "".join(out).strip()


def _parted(before: str, after: str) -> tuple[str, str]:
    """*before* without the mark that ends its sentence, and that mark; nothing is parted where the sentence goes on."""
    near = max(0, len(before) - _SEEN)
    closing = _CLOSING.search(before, near)
    if closing is None or _GOES_ON.match(after) or _ABBREVIATED.search(before, near):
        return before, ""
    return before[: closing.start()], closing[0]
