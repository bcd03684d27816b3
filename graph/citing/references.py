"""The list of sources a model sets under its answer. It goes: what an answer cites is said by its markers."""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.citing.brackets import cuts
from graph.citing.markers import Marker, merged, read_marker
from graph.state import Chunk

_HEADING = re.compile(
    r"[\s#>*_–—-]*(?:list of )?(?:cited )?(?:sources?|references?|citations?|bibliography|footnotes?|works cited)"
    r"(?: used| cited| list)?[\s*_]*(?P<colon>:)?[\s*_]*(?P<rest>[^\n]*)",
    re.IGNORECASE,
)
_NUMBERED = re.compile(
    r"[\s>*_•–—-]*(?:\[[^\[\]\n]{1,40}\]|【[^【】\n]{1,40}】|\(?\d{1,3}[.)])[:.\s*_–—-]*(?P<rest>[^\n]*)"
)
_BULLET = re.compile(r"[\s>]*[*•–—-]\s*(?P<rest>\S[^\n]*)")
_ADDRESS = re.compile(r"<?(?:https?://|www\.)\S+\s*")
_BETWEEN = re.compile(r"[\s,;.&*_]*(?:and[\s,;.&*_]*)?")
_RULE = re.compile(r"[\s*_-]*")


def split_references(text: str, chunks: Sequence[Chunk]) -> tuple[str, Marker]:
    """*text* without the reference list at its end, and the chunks that list cites by marker or by name.

    A list is a heading ("Sources:") with entries under or beside it, or numbered lines that hold nothing but names and
    addresses. A text that is nothing else is left as it is.
    """
    lines = text.splitlines(keepends=True)
    last = first = len(lines)
    headed = False
    bare = True
    while first > 0:
        line = lines[first - 1]
        if not line.strip():
            first -= 1
        elif _is_heading(line, chunks):
            first, headed = first - 1, True
            break
        elif entry := _NUMBERED.match(line) or _BULLET.match(line):
            bare = bare and _is_place(entry["rest"], chunks) and "[" in line
            if not (_NUMBERED.match(line) or _is_place(entry["rest"], chunks)):
                break
            first -= 1
        else:
            break
    if not headed:
        first = first if bare else last
    while headed and first > 0 and not _RULE.sub("", lines[first - 1]):
        first -= 1
    body = "".join(lines[:first])
    if first == last or not body.strip():
        return text, Marker()
    return body.rstrip(), merged([m for line in lines[first:] for m in _cited(line, chunks)])


def _is_heading(line: str, chunks: Sequence[Chunk]) -> bool:
    """Whether *line* is "Sources" or "Sources:", alone or with nothing but markers and names after it."""
    found = _HEADING.fullmatch(line.rstrip("\n\r"))
    if found is None:
        return False
    rest = found["rest"].strip()
    return not rest or (found["colon"] is not None and _is_place(rest, chunks))


def _is_place(rest: str, chunks: Sequence[Chunk]) -> bool:
    """Whether *rest* is a list of markers, the names of documents, an address, or nothing."""
    rest = rest.strip(" \t*_.")
    if not rest or _ADDRESS.fullmatch(rest) or read_marker(rest, chunks) is not None:
        return True
    found = cuts(rest, chunks)
    edges = [0, *(edge for cut in found for edge in (cut.start, cut.end)), len(rest)]
    return bool(found) and all(
        _BETWEEN.fullmatch(rest, begin, end) for begin, end in zip(edges[::2], edges[1::2], strict=True)
    )


def _cited(line: str, chunks: Sequence[Chunk]) -> list[Marker]:
    found = [cut.piece for cut in cuts(line, chunks) if isinstance(cut.piece, Marker)]
    if found:
        return found
    entry = _HEADING.match(line) or _BULLET.match(line)
    named = read_marker(entry["rest"], chunks) if entry else None
    return [named] if named else []
