"""The marker grammar: how models cite, read without guessing (contract, "Markers").

``parse`` cuts a draft into text and markers. Accepted are ``[1]``, ``[1, 2]``, ``[1-3]``, ``[^1]``, ``[[1]]``,
``【1】``, ``[Source 1]``, ``(Chunk 1)``, ``[doc.pdf, page 5]``, ``[doc.pdf, section Y]``, lists of these with ``;``,
and phrases as in ``According to [1], …``. Code, array indices and links are content. A marker that names no chunk that
was given is kept as one that names nothing, so that it can be dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.citing.brackets import Sealed
from graph.citing.markers import Marker
from graph.citing.mending import tidy
from graph.citing.nouns import without_nouns
from graph.citing.references import split_references
from graph.state import Chunk

_DANGLING = re.compile(r"\s*(?:\[\[?|【)[^\[\]【】\n]{0,60}\Z")
_NO_BRACKETS = str.maketrans("[]【】［］", "()()()")


def parse(text: str, chunks: Sequence[Chunk]) -> list[str | Marker]:
    """Cut *text* into pieces, in order; joined, the strings are the text without its markers.

    Footnotes, links that only carry a number, phrases that only hold a marker and the list of sources at the end go;
    where that list holds all the markers there are, they stand at the end.
    """
    sealed = Sealed(text, chunks).joined()
    listed = split_references(sealed, chunks)
    sealed.text = without_nouns(sealed, chunks)
    pieces = _without_leftovers(sealed.pieces())
    if listed.groups and not any(isinstance(piece, Marker) for piece in pieces):
        pieces.append(listed)
    return pieces


def without_markers(text: str) -> str:
    """*text* of a document as an answer or a prompt may repeat it: what looks like a numbered marker is taken out."""
    pieces = _without_leftovers(Sealed(text, ()).joined().pieces())
    return "".join(tidy([piece if isinstance(piece, str) else None for piece in pieces])).strip()


def without_dangling(text: str) -> str:
    """*text* of a model that was cut off, without the marker it had begun."""
    found = _DANGLING.search(text, max(0, len(text) - 64))
    return text[: found.start()] if found else text


def _without_leftovers(pieces: list[str | Marker]) -> list[str | Marker]:
    """*pieces*; where a marker came about by taking out others, as in ``[[[[1] a] 1]``, no bracket is left."""
    joined = "".join(piece for piece in pieces if isinstance(piece, str))
    if all(isinstance(piece, str) for piece in Sealed(joined, ()).pieces()):
        return pieces
    return [piece.translate(_NO_BRACKETS) if isinstance(piece, str) else piece for piece in pieces]
