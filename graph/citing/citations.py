"""The marker grammar: how models cite, read without guessing (contract, "Markers").

``parse`` cuts a draft into text and markers. Accepted are ``[1]``, ``[1, 2]``, ``[1-3]``, ``[^1]``, ``[[1]]``,
``【1】``, ``[Source 1]``, ``[doc.pdf, page 5]``, ``[doc.pdf, section Y]`` and lists of these with ``;``.
Code, array indices and links are content. A marker that names no chunk that was given is kept as one that names
nothing, so that it can be dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.citing.brackets import Cut, cuts
from graph.citing.markers import Marker
from graph.citing.mending import tidy
from graph.citing.references import split_references
from graph.state import Chunk

_ROUNDS = 6
"""How often a text is read again: taking one marker out can leave another, as in ``[[^1] 1]``."""

_JOINT = re.compile(r"[ \t]*(?:[,;&+][ \t]*)?(?:(?:and|or)[ \t]+)?")
_WORDS_BEFORE = re.compile(
    r"(?:(?P<open>[(\[])[ \t]*(?:(?:see|cf\.?|from|per|sources?|ref(?:erence)?s?\.?|citations?|chunks?)(?![\w-])"
    r"[ \t]*:?)?"
    r"|(?:(?<=[.!?)][ ])|(?<=\n))(?:sources?|references?|citations?)[ \t]*:)[ \t]*\Z",
    re.IGNORECASE,
)
_CLOSED_AFTER = re.compile(r"[ \t]*[)\]]")
_DANGLING = re.compile(r"\s*(?:\[\[?|【)[^\[\]【】\n]{0,60}\Z")
_NO_BRACKETS = str.maketrans("[]【】［］〔〕〖〗⟦⟧❲❳", "()()()()()()()")


def parse(text: str, chunks: Sequence[Chunk]) -> list[str | Marker]:
    """Cut *text* into pieces, in order; joined, the strings are the text without its markers.

    Footnote definitions, links that only carry a number and the list of sources at the end go, since they are
    citations in a form nobody can verify; where that list holds all the markers there are, they stand at the end.
    """
    body, listed = split_references(text, chunks)
    pieces = _without_leftovers(_pieces(body, _joined(body, cuts(body, chunks))))
    if listed.groups and not any(isinstance(piece, Marker) for piece in pieces):
        pieces.append(listed)
    return pieces


def without_markers(text: str) -> str:
    """*text* of a document as an answer or a prompt may repeat it: what looks like a numbered marker is taken out."""
    pieces = _without_leftovers(_pieces(text, cuts(text, ())))
    return "".join(tidy([piece if isinstance(piece, str) else None for piece in pieces])).strip()


def without_dangling(text: str) -> str:
    """*text* of a model that was cut off, without the marker it had begun."""
    found = _DANGLING.search(text, max(0, len(text) - 64))
    return text[: found.start()] if found else text


def _joined(text: str, found: Sequence[Cut]) -> list[Cut]:
    """The cuts with what only holds markers together: "[1], [2] and [3]", "(see [1])", "Source: [1]"."""
    out: list[Cut] = []
    for cut in found:
        if out and _are_markers(out[-1], cut) and _JOINT.fullmatch(text, out[-1].end, cut.start):
            cut = Cut(out[-1].end, cut.end, cut.piece)
        out.append(cut)
    first = 0
    for last, cut in enumerate(out):
        if last + 1 < len(out) and out[last + 1].start == cut.end:
            continue
        out[first], out[last] = _unwrapped(text, out[first], out[last], out[first - 1].end if first else 0)
        first = last + 1
    return out


def _are_markers(*found: Cut) -> bool:
    return all(isinstance(cut.piece, Marker) for cut in found)


def _unwrapped(text: str, first: Cut, last: Cut, since: int) -> tuple[Cut, Cut]:
    """A run of markers from *first* to *last*, widened to the words and the parentheses that only hold it."""
    if not _are_markers(first, last):
        return first, last
    words = _WORDS_BEFORE.search(text, max(since, first.start - 40), first.start)
    if words is None:
        return first, last
    start, end = words.start(), last.end
    if words["open"]:
        closed = _CLOSED_AFTER.match(text, last.end)
        if closed is None:
            return first, last
        end = closed.end()
    if first is last:
        same = Cut(start, end, first.piece)
        return same, same
    return Cut(start, first.end, first.piece), Cut(last.start, end, last.piece)


def _pieces(text: str, found: Sequence[Cut]) -> list[str | Marker]:
    """*text* with the cuts made, empty strings left out."""
    pieces: list[str | Marker] = []
    done = 0
    for cut in found:
        pieces += [text[done : cut.start], cut.piece]
        done = max(done, cut.end)
    return [piece for piece in [*pieces, text[done:]] if piece != ""]


def _without_leftovers(pieces: list[str | Marker]) -> list[str | Marker]:
    """*pieces* without the markers that only came about when others were taken out; these name nothing."""
    for round_ in range(_ROUNDS + 1):
        text = "".join(piece for piece in pieces if isinstance(piece, str))
        found = cuts(text, ())
        if not found:
            break
        if round_ == _ROUNDS:
            return [p.translate(_NO_BRACKETS) if isinstance(p, str) else p for p in pieces]
        pieces = _recut(pieces, found)
    return pieces


def _recut(pieces: Sequence[str | Marker], found: Sequence[Cut]) -> list[str | Marker]:
    """*pieces* with the cuts of their joined strings made; a marker that stood inside one now stands before it."""
    out: list[str | Marker] = []
    waiting = list(reversed(found))
    place = 0
    for piece in pieces:
        if isinstance(piece, Marker):
            out.append(piece)
            continue
        start, end = place, place + len(piece)
        while place < end:
            if not waiting or waiting[-1].start >= end:
                out.append(piece[place - start :])
                place = end
            elif waiting[-1].start > place:
                out.append(piece[place - start : waiting[-1].start - start])
                place = waiting[-1].start
            else:
                cut = waiting[-1]
                if cut.start == place:
                    out.append(cut.piece)
                place = min(end, cut.end)
                if cut.end <= end:
                    waiting.pop()
    return [piece for piece in out if piece != ""]
