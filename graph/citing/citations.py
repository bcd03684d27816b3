"""Parse the citation markers of a draft (contract, "Markers").

Accepted are ``[1]``, ``[1, 2]``, ``[1-3]``, ``[^1]``, ``[[1]]``, ``【1】``, ``[Source 1]``, ``(Chunk 1)``,
``[doc.pdf, page 5]``, ``[doc.pdf, section Y]``, lists of these with ``;``, and phrases as in ``According to [1], …``.
Code, array indices and links are content. A marker that names no given chunk is kept as one that names nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.citing.marked_text import MARK, MarkedText, unclosed_bracket
from graph.citing.markers import Marker, merged, read_marker
from graph.citing.phrases import without_phrases
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
_LEADS = re.compile(rf"(?P<marks>{MARK}+)[ \t]*(?P<words>[^{MARK[1:-1]}]*[^{MARK[1:-1]}\s])")
LONGEST_BEGUN = 64
"""Characters at the end of a truncated text in which a bracket that is not closed may be a marker."""
_NO_BRACKETS = str.maketrans("[]【】［］", "()()()")


def parse(text: str, chunks: Sequence[Chunk]) -> list[str | Marker]:
    """Cut *text* into pieces, in order; joined, the strings are the text without its markers.

    Footnotes, links that only carry a number, phrases that only hold a marker and the list of sources at the end are
    removed; where that list holds all the markers there are, they stand at the end.
    """
    marked = MarkedText(text, chunks)
    marked.drop_holders()
    listed = _drop_references(marked, chunks)
    marked.text = _LED.sub(_trailing, without_phrases(marked, chunks))
    pieces = _without_leftovers(marked.pieces())
    if listed.groups and not any(isinstance(piece, Marker) for piece in pieces):
        pieces.append(listed)
    return pieces


def without_markers(text: str) -> str:
    """Remove what looks like a numbered marker from a document's *text*, for an answer or a prompt."""
    marked = MarkedText(text, ())
    marked.drop_holders()
    return "".join(piece for piece in _without_leftovers(marked.pieces()) if isinstance(piece, str)).strip()


def without_dangling(text: str) -> str:
    """Remove the marker that a truncated *text* had begun."""
    begun = unclosed_bracket(text, len(text) - LONGEST_BEGUN)
    return text[:begun].rstrip() if begun < len(text) else text


def _without_leftovers(pieces: list[str | Marker]) -> list[str | Marker]:
    """Replace all brackets where removing markers made another one, as in ``[[[[1] a] 1]``."""
    joined = "".join(piece for piece in pieces if isinstance(piece, str))
    if all(isinstance(piece, str) for piece in MarkedText(joined, ()).pieces()):
        return pieces
    return [piece.translate(_NO_BRACKETS) if isinstance(piece, str) else piece for piece in pieces]


def _trailing(found: re.Match[str]) -> str:
    """Move the markers of a line that sets them before its sentences behind these."""
    last = _LAST_LEADS.search(found["line"])
    if last is None or not any(c.isalnum() for c in last["rest"]):
        return found[0]
    return found["head"] + _LEADS.sub(r"\g<words>\g<marks>", found["line"])


def _drop_references(marked: MarkedText, chunks: Sequence[Chunk]) -> Marker:
    """Remove the reference list at the end of *marked*; return the chunks it cites by marker or by name.

    A list is a heading ("Sources:") with entries under or beside it, or numbered lines of nothing but names and
    addresses. A text that is nothing else stays as it is.
    """

    def is_reference(rest: str) -> bool:
        rest = _ADDRESSES.sub("", marked.plain(rest)).strip(" \t*_.\r\n")
        return _BETWEEN.fullmatch(rest) is not None or read_marker(rest, chunks) is not None

    lines = marked.text.splitlines(keepends=True)
    first = len(lines)
    listed: list[Marker] = []
    headed, bare = False, True
    while first > 0 and not headed:
        line = lines[first - 1].rstrip("\r\n")
        heading, entry = _HEADING.fullmatch(line), _ENTRY.match(line)
        rest = heading["rest"].strip() if heading else ""
        headed = heading is not None and (not rest or (heading["colon"] is not None and is_reference(rest)))
        if not headed and entry:
            reference = is_reference(entry["rest"])
            bare = bare and reference and re.match(MARK, entry["sign"] or "") is not None
            if not (reference or entry["sign"]):
                break
        elif not headed and line.strip():
            break
        if re.search(MARK, line):
            listed.append(marked.marker(line))
        elif named := heading or entry:
            listed.append(read_marker(marked.plain(named["rest"]), chunks) or Marker())
        first -= 1
    if not (headed or bare) or not "".join(lines[first:]).strip():
        return Marker()
    while first > 0 and not lines[first - 1].strip(" \t\r\n*_-"):
        first -= 1
    if first == 0:
        return Marker()
    marked.text = "".join(lines[:first]).rstrip()
    return merged(listed[::-1])
