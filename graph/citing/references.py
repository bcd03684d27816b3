"""The list of sources a model sets under its answer. It goes: what an answer cites is said by its markers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.citing.brackets import MARK, Sealed
from graph.citing.markers import Marker, merged, read_marker
from graph.state import Chunk

_HEADING = re.compile(
    r"[\s#>*_–—-]*(?:list of )?(?:cited )?(?:sources?|references?|citations?|bibliography|footnotes?|works cited)"
    r"(?: used| cited| list)?[\s*_]*(?P<colon>:)?[\s*_]*(?P<rest>[^\n]*)",
    re.IGNORECASE,
)
_ENTRY = re.compile(rf"(?:[\s>*_•–—-]*(?P<sign>{MARK}+|\(?\d{{1,3}}[.)])|[\s>]*[*•–—-]\s)[:.\s*_–—-]*(?P<rest>[^\n]*)")
_ADDRESSES = re.compile(r"<?(?:https?://|www\.)\S+")
_BETWEEN = re.compile(rf"(?:{MARK}|[\s,;.&*_]|and\b)*")


def split_references(sealed: Sealed, chunks: Sequence[Chunk]) -> Marker:
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
    body = "".join(lines[:first]).rstrip(" \t\r\n*_-")
    if not body:
        return Marker()
    sealed.text = body
    return merged([_cited(sealed, line, chunks) for line in lines[first:]])


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
