"""Markers in a stream: text is shown as it comes, a marker only when it is whole.

What is streamed is provisional, since a marker is verified when the answer is done; the final answer replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.citing.brackets import LONGEST, cuts
from graph.citing.code_spans import code_spans
from graph.citing.document_names import fold, names_of
from graph.citing.markers import Marker, visible
from graph.citing.mending import mended
from graph.sentences import Span
from graph.state import Chunk

PATIENCE = 60
"""Most characters after a bracket that are held back when they do not begin like a marker of ours."""

_CONTEXT = 120
"""Characters already shown that are read again with what follows: a name before an index, a line of inline code."""

_OPEN = re.compile(r"[\[【［〔〖⟦❲]")
_BRACKET = re.compile(r"(?P<open>[\[【［〔〖⟦❲])|[\]】］〕〗⟧❳]|\n[ \t]*\n")
_NESTED = re.compile(r"[\[【［〔〖⟦❲\]】］〕〗⟧❳]")
_NUMERIC = re.compile(r"[\s\d,;:&|/^#.‐–—†A-Za-z*_-]*")
_AFTER_NAME = re.compile(r"\s*(?:\Z|[,;:(#]|(?:pa?g?e?|p|sect?|chapter|§)\b)")
_LINK_BEGINS = re.compile(r"\([^()\s]{0,200}\Z|\Z")
_FENCE_LINE = re.compile(r"[ \t>]*+(?:`{3,}+|~{3,}+)[^\n`]*+\n")
_WHITE = " \t"


class LiveMarkers:
    """Turns the synthesizer's text, piece by piece, into text whose ``[k]`` count documents in order of appearance."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        self._names = frozenset(name for chunk in chunks for name in names_of(chunk))
        self._numbers: dict[str, int] = {}
        self._text = ""  # what is read: a little of what was shown, and what waits
        self._shown = 0  # how much of it was shown
        self._left = ""  # the last character shown, outside markers
        self._gap = ""  # white space after it, which waits for what follows
        self._marked = False  # whether a marker stood there
        self._after = ""  # white space after that marker
        self._written: list[int] = []  # the numbers written there

    def feed(self, text: str) -> str:
        """Take the next piece; return what may be shown now, perhaps nothing."""
        self._text += text
        return self._show(final=False)

    def close(self) -> str:
        """Return what was held back; a marker that never closed is not shown."""
        return self._show(final=True)

    def _show(self, *, final: bool) -> str:
        text = self._text
        if not _OPEN.search(text, self._shown):
            said, self._shown = self._say(text[self._shown :]), len(text)
            self._forget()
            return said
        code = code_spans(text)
        found = [cut for cut in cuts(text, self._chunks, self._shown) if isinstance(cut.piece, Marker)]
        upto = self._unclosed(code)
        if not final:
            for cut in found:
                if _LINK_BEGINS.match(text, cut.end):  # "[1]" may become "[1](address)"
                    upto = min(upto, cut.start)
        out: list[str] = []
        for cut in found:
            if cut.end <= upto and isinstance(cut.piece, Marker):
                out.append(self._say(text[self._shown : cut.start]))
                out.append(self._mark(cut.piece))
                self._shown = cut.end
        if upto > self._shown:
            out.append(self._say(text[self._shown : upto]))
            self._shown = upto
        self._forget()
        return "".join(out)

    def _unclosed(self, code: Sequence[Span]) -> int:
        """Where the first bracket opens, among what waits, that may still become a marker; without one, the end."""
        text = self._text
        opens: list[int] = []
        position = self._shown
        for start, end in [*code, (len(text), len(text))]:
            while position < start and (found := _BRACKET.search(text, position, start)):
                position = found.end()
                if found["open"]:
                    opens.append(found.start())
                elif found[0][0] == "\n":
                    opens.clear()
                elif opens:
                    opens.pop()
            position = max(position, end)
        near = (place for place in opens if place >= len(text) - LONGEST - 1)
        first = next((place for place in near if self._may_become(text[place + 1 :])), len(text))
        return min(first, _after_open_tick(text, self._shown, code))

    def _may_become(self, inside: str) -> bool:
        """Whether a marker may begin with *inside*."""
        if _NUMERIC.fullmatch(_NESTED.sub("", inside)) and len(re.findall(r"[A-Za-z]+", inside)) <= 2:
            return True
        if "\n" not in inside and len(inside) <= PATIENCE:
            return True
        part = fold(visible(inside.rpartition(";")[2]))
        return any(
            name.startswith(part) or (part.startswith(name) and _AFTER_NAME.match(part, len(name)))
            for name in self._names
        )

    def _say(self, text: str) -> str:
        """*text* to be shown; the white space at its end waits for what follows."""
        if not text:
            return ""
        if self._marked:
            if not text.strip(_WHITE):
                self._after += text
                return ""
            _, text = mended(self._left + self._gap, self._after + text)
            if self._written and self._left in ("", "\n") and text[:1].isalnum():
                text = f" {text}"
        else:
            text = self._gap + text
        shown = text.rstrip(_WHITE)
        self._gap = text[len(shown) :]
        if shown:
            self._left, self._marked, self._after, self._written = shown[-1], False, "", []
        return shown

    def _mark(self, marker: Marker) -> str:
        """The marker as it is shown; of the chunks that a name may mean, the first."""
        documents = (self._chunks[group[0]].document_id for group in marker.groups)
        numbers = dict.fromkeys(self._numbers.setdefault(name, len(self._numbers) + 1) for name in documents)
        fresh = [number for number in numbers if number not in self._written]
        space = " " if fresh and not self._written and self._left not in ("", "\n") else ""
        self._marked = True
        self._written += fresh
        return space + "".join(f"[{number}]" for number in fresh)

    def _forget(self) -> None:
        """Let go of what was shown long ago; a fence that is open there is kept."""
        if self._shown < 2 * _CONTEXT:
            return
        start = self._text.rfind("\n", 0, self._shown - _CONTEXT) + 1 or self._shown - _CONTEXT
        kept = ""
        for begin, end in code_spans(self._text):
            if begin < start < end:
                fence = _FENCE_LINE.match(self._text, begin)
                kept, start = (fence[0], start) if fence else ("", begin)
        if start > len(kept):
            self._text = kept + self._text[start:]
            self._shown += len(kept) - start


def _after_open_tick(text: str, shown: int, code: Sequence[Span]) -> int:
    """The first bracket behind a backtick which has not been closed on its line, for it may be in code; or the end."""
    line = text.rfind("\n") + 1
    inside = [end for start, end in code if end > line]
    tick = text.find("`", max(line, inside[-1] if inside else 0))
    bracket = _OPEN.search(text, max(tick, shown)) if tick >= 0 else None
    return bracket.start() if bracket and len(text) - bracket.start() <= 2 * PATIENCE else len(text)
