"""The brackets of a text, matched and read in one pass: what is cut out, where, and what stands there instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from graph.citing.array_index import indexed_name
from graph.citing.code_spans import code_spans
from graph.citing.markers import Marker, merged, read_marker, read_numbers, visible
from graph.state import Chunk

LONGEST = 300
"""Most characters between two brackets that are read as a marker; longer ones hold ordinary text."""

_PAIRS = {"]": "[", "】": "【", "］": "［", "〕": "〔", "〗": "〖", "⟧": "⟦", "❳": "❲"}
_STOP = re.compile(r"[\[\]【】［］〔〕〖〗⟦⟧❲❳]|\n[ \t]*\n")
_CLOSING = re.compile(f"[{re.escape(''.join(_PAIRS))}]")
_TARGET = re.compile(r"\((?:[^()\s]|\([^()\s]*\)){0,2000}(?:[ \t]+\"[^\"\n]{0,300}\")?[ \t]*\)")
_DEFINITION = re.compile(r":[^\n]*(?:\n[ \t]{2,}[^\n]*)*")


@dataclass(frozen=True, slots=True)
class Cut:
    """A stretch of the text, and the marker or the string that stands in its place."""

    start: int
    end: int
    piece: Marker | str


@dataclass(slots=True)
class _Scan:
    """The pass over one text. ``opens`` are the brackets not closed yet: (place, kind, cuts made before it);
    ``begins`` is where the text's first word stands, ``index_end`` where the last array index ended."""

    text: str
    chunks: Sequence[Chunk]
    cuts: list[Cut] = field(default_factory=list)
    opens: list[tuple[int, str, int]] = field(default_factory=list)
    index_end: int = -1
    begins: int = 0

    def __post_init__(self) -> None:
        self.begins = len(self.text) - len(self.text.lstrip())

    def close(self, place: int) -> int:
        """Read the pair of brackets that closes at *place*; return where to read on."""
        kind = _PAIRS[self.text[place]]
        while self.opens and self.opens[-1][1] != kind:
            self.opens.pop()
        if not self.opens:
            return place + 1
        start, _, before = self.opens.pop()
        if place - start > LONGEST + 1:
            return place + 1
        cut = self._read(start, place, before)
        if cut is None:
            return place + 1
        while self.cuts and self.cuts[-1].end > cut.start:
            self.cuts.pop()
        self.cuts.append(cut)
        return cut.end

    def _read(self, start: int, place: int, before: int) -> Cut | None:
        """What the brackets at *start* and *place* stand for; None leaves them as they are."""
        inside, inner = self._inside(start, place, before)
        end = place + 1
        target = _TARGET.match(self.text, end) if self.text[start] == "[" else None
        if target:  # a link is content, unless all that is seen of it is a number
            numbered = read_numbers(visible(inside), len(self.chunks)) is not None or (inner and not visible(inside))
            return Cut(start - (self.text[start - 1 : start] == "!"), target.end(), Marker()) if numbered else None
        marker = read_marker(inside, self.chunks)
        if marker is None and inner and not any(c.isalnum() for c in inside):
            marker = Marker()  # [[1], [2]]
        if marker is None:
            return None
        if self._defines(start, end, inside):
            found = _DEFINITION.match(self.text, end)
            return Cut(start, found.end() if found else end, Marker())
        if self.text[start] == "[" and not inner:
            index = self._index(start, end)
            if index is not None:
                return index
        start, end = self._dressing(start, end)
        return Cut(start, end, merged([*inner, marker]))

    def _inside(self, start: int, place: int, before: int) -> tuple[str, list[Marker]]:
        """The text between the brackets without the markers in it, and these."""
        out: list[str] = []
        inner: list[Marker] = []
        done = start + 1
        for cut in self.cuts[before:]:
            if isinstance(cut.piece, Marker):
                inner.append(cut.piece)
                out.append(self.text[done : cut.start])
                done = cut.end
        out.append(self.text[done:place])
        return "".join(out), inner

    def _defines(self, start: int, end: int, inside: str) -> bool:
        """Whether ``[1]: …`` or ``[^1]: …`` opens a line below the text: a footnote, or the target of a link."""
        if self.text[end : end + 1] != ":" or read_numbers(visible(inside), 0) is None:
            return False
        first = max(0, start - 64)
        line = self.text.rfind("\n", first, start) + 1
        opens_line = (line > 0 or first == 0) and not self.text[line:start].strip(" \t>")
        return opens_line and start > self.begins

    def _index(self, start: int, end: int) -> Cut | None:
        """An array index outside code is set as code, name and all, so that no bracketed number of it is left."""
        if start == self.index_end and self.cuts and isinstance(self.cuts[-1].piece, str):
            first = self.cuts[-1].start
        else:
            name = indexed_name(self.text, start, end)
            if name is None:
                return None
            first = start - len(name)
        self.index_end = end
        return Cut(first, end, f"`{self.text[first:end]}`")

    def _dressing(self, start: int, end: int) -> tuple[int, int]:
        """The bounds with a backslash or ``<sup>`` around the brackets."""
        if start and self.text[start - 1] == "\\":
            start -= 1
        if self.text[max(0, start - 5) : start].lower() == "<sup>" and self.text[end : end + 6].lower() == "</sup>":
            return start - 5, end + 6
        return start, end


def cuts(text: str, chunks: Sequence[Chunk], since: int = 0) -> list[Cut]:
    """The markers of *text* from *since* on, outermost, in order and disjoint; code is skipped.

    Time is linear in the length of *text*.
    """
    if not _CLOSING.search(text, since):
        return []
    scan = _Scan(text, chunks)
    position = since
    for start, end in [*code_spans(text), (len(text), len(text))]:
        while position < start and (found := _STOP.search(text, position, start)):
            sign = found[0]
            position = found.end()
            if sign in _PAIRS:
                position = scan.close(found.start())
            elif sign[0] == "\n":
                scan.opens.clear()
            else:
                scan.opens.append((found.start(), sign, len(scan.cuts)))
        scan.opens.clear()
        position = max(position, end)
    return scan.cuts
