"""The marker grammar: how models cite, read without guessing (contract, "Markers").

``parse`` cuts a draft into text and markers. Accepted are ``[1]``, ``[1, 2]``, ``[1-3]``, ``[^1]``, ``[[1]]``,
``【1】``, ``[Source 1]``, ``(Chunk 1)``, ``[doc.pdf, page 5]``, ``[doc.pdf, section Y]``, lists of these with ``;``,
and phrases as in ``According to [1], …``. Code, array indices and links are content. A marker that names no chunk that
was given is kept as one that names nothing, so that it can be dropped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.citing.brackets import MARK, Sealed
from graph.citing.markers import Marker, merged, read_marker
from graph.citing.nouns import without_nouns
from graph.state import Chunk

_HEADING = re.compile(
    r"[\s#>*_–—-]*(?:list of )?(?:cited )?(?:sources?|references?|citations?|bibliography|footnotes?|works cited)"
    r"(?: used| cited| list)?[\s*_]*(?P<colon>:)?[\s*_]*(?P<rest>[^\n]*)",
    re.IGNORECASE,
)
_ENTRY = re.compile(rf"(?:[\s>*_•–—-]*(?P<sign>{MARK}+|\(?\d{{1,3}}[.)])|[\s>]*[*•–—-]\s)[:.\s*_–—-]*(?P<rest>[^\n]*)")
_ADDRESSES = re.compile(r"<?(?:https?://|www\.)\S+")
_BETWEEN = re.compile(rf"(?:{MARK}|[\s,;.&*_]|and\b)*")
_LED = re.compile(rf"^(?P<head>[ \t>*+-]*(?:\d{{1,3}}[.)][ ])?)(?P<line>{MARK}[^\n]*)", re.MULTILINE)
_LAST_LEADS = re.compile(rf"[.!?][\"”*)]*[ ]+{MARK}+(?=(?P<rest>[^{MARK[1:-1]}]*)\Z)")
_LEADS = re.compile(rf"(?P<marks>{MARK}+)[ \t]*(?P<said>[^{MARK[1:-1]}]*[^{MARK[1:-1]}\s])")
_DANGLING = re.compile(r"\s*(?:\[\[?|【)[^\[\]【】\n]{0,60}\Z")
_NO_BRACKETS = str.maketrans("[]【】［］", "()()()")


def parse(text: str, chunks: Sequence[Chunk]) -> list[str | Marker]:
    """Cut *text* into pieces, in order; joined, the strings are the text without its markers.

    Footnotes, links that only carry a number, phrases that only hold a marker and the list of sources at the end go;
    where that list holds all the markers there are, they stand at the end.
    """
    sealed = Sealed(text, chunks).joined()
    listed = _split_references(sealed, chunks)
    sealed.text = _LED.sub(_trailing, without_nouns(sealed, chunks))
    pieces = _without_leftovers(sealed.pieces())
    if listed.groups and not any(isinstance(piece, Marker) for piece in pieces):
        pieces.append(listed)
    return pieces


def without_markers(text: str) -> str:
    """*text* of a document as an answer or a prompt may repeat it: what looks like a numbered marker is taken out."""
    pieces = _without_leftovers(Sealed(text, ()).joined().pieces())
    return "".join(piece for piece in pieces if isinstance(piece, str)).strip()


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


def _trailing(found: re.Match[str]) -> str:
    """A line that sets its markers before its sentences, with each behind what it stands before."""
    last = _LAST_LEADS.search(found["line"])
    if last is None or not any(c.isalnum() for c in last["rest"]):
        return found[0]
    return found["head"] + _LEADS.sub(r"\g<said>\g<marks>", found["line"])


def _split_references(sealed: Sealed, chunks: Sequence[Chunk]) -> Marker:
    """Take the reference list off the end of *sealed*; return the chunks it cites by marker or by name.

    A list is a heading ("Sources:") with entries under or beside it, or numbered lines that hold nothing but names and
    addresses. A text that is nothing else is left as it is.
    """
    lines = sealed.text.splitlines(keepends=True)
    first = len(lines)
    headed, bare = False, True
    while first > 0 and not headed:
        line = lines[first - 1]
        entry = _ENTRY.match(line)
        headed = _is_heading(sealed, line, chunks)
        if entry and not headed:
            place = _is_place(sealed, entry["rest"], chunks)
            bare = bare and place and re.match(MARK, entry["sign"] or "") is not None
            if not (place or entry["sign"]):
                break
        elif line.strip() and not headed:
            break
        first -= 1
    if not (headed or bare) or not "".join(lines[first:]).strip():
        return Marker()
    listed = merged([_cited(sealed, line, chunks) for line in lines[first:]])
    while first > 0 and not lines[first - 1].strip(" \t\r\n*_-"):
        first -= 1
    if first > 0:
        sealed.text = "".join(lines[:first]).rstrip()
    return listed if first > 0 else Marker()


def _is_heading(sealed: Sealed, line: str, chunks: Sequence[Chunk]) -> bool:
    """Whether *line* is "Sources" or "Sources:", alone or with nothing but markers and names after it."""
    found = _HEADING.fullmatch(line.rstrip("\n\r"))
    if found is None:
        return False
    rest = found["rest"].strip()
    return not rest or (found["colon"] is not None and _is_place(sealed, rest, chunks))


def _is_place(sealed: Sealed, rest: str, chunks: Sequence[Chunk]) -> bool:
    """Whether *rest* is a list of markers, the names of documents, an address, or nothing."""
    rest = _ADDRESSES.sub("", sealed.plain(rest)).strip(" \t*_.\r\n")
    return _BETWEEN.fullmatch(rest) is not None or read_marker(rest, chunks) is not None


def _cited(sealed: Sealed, line: str, chunks: Sequence[Chunk]) -> Marker:
    if re.search(MARK, line):
        return sealed.marker(line)
    entry = _HEADING.fullmatch(line.rstrip("\r\n")) or _ENTRY.match(line)
    return (read_marker(sealed.plain(entry["rest"]), chunks) if entry else None) or Marker()
