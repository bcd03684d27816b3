"""Markers in a stream: text is shown as it comes, a marker only when it is whole.

What is streamed is provisional, since a marker is verified when the answer is done; the final answer replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.citing.brackets import Sealed
from graph.citing.markers import Marker, names_of
from graph.code_spans import code_spans
from graph.state import Chunk

PATIENCE = 60
"""Most characters after a bracket that are held back, or those of the longest document's name with a page."""

_WINDOW, _MOST = 400, 4_000
"""Characters that are read again with what follows, from the start of a line; and without one."""

_SPECIAL = re.compile(r"[\[【［`~]")
_BRACKET = re.compile(r"(?P<open>[\[【［])|[\]】］]")
_MAY_BE_LINK = re.compile(r"\[[^\[\]]{0,300}\](?:\([^()\s]{0,200})?\Z")
_WHITE = " \t"


class LiveMarkers:
    """Turns the synthesizer's text, piece by piece, into text whose ``[k]`` count documents in order of appearance."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        longest = max((len(name) for chunk in chunks for name in names_of(chunk)), default=0)
        self._patience = min(300, max(PATIENCE, longest + 30))
        self._numbers: dict[str, int] = {}
        self._text = ""  # what is read: a little of what was shown, and what waits
        self._shown = ""  # what was shown of it

    def feed(self, text: str) -> str:
        """Take the next piece; return what may be shown now, perhaps nothing."""
        self._text += text
        return self._show(final=False)

    def close(self) -> str:
        """Return what was held back; a marker that never closed is not shown."""
        return self._show(final=True)

    def _show(self, *, final: bool) -> str:
        upto = self._ready(final=final)
        written = self._written(self._text[:upto])
        fresh = written[len(self._shown) :]
        self._shown = max(self._shown, written, key=len)
        if upto > _WINDOW:
            self._forget(upto)
        return fresh

    def _ready(self, *, final: bool) -> int:
        """Where the first bracket or backtick opens that may still become a marker or code; without one, the end."""
        text = self._text
        if not _SPECIAL.search(text):
            return len(text)
        code = code_spans(text)
        upto = len(text)
        line = max(text.rfind("\n") + 1, code[-1][1] if code else 0)
        if (tick := text.find("`", line)) >= 0 and upto - tick <= 2 * PATIENCE and not final:
            upto = tick
        if not final and (found := _MAY_BE_LINK.search(text, max(0, len(text) - 520))):
            upto = min(upto, found.start())
        opens: list[int] = []
        position = max(0, len(text) - self._patience - 1)
        for start, end in [*code, (upto, upto)]:
            while position < min(start, upto) and (bracket := _BRACKET.search(text, position, min(start, upto))):
                position = bracket.end()
                if bracket["open"]:
                    opens.append(bracket.start())
                elif opens:
                    opens.pop()
            position = max(position, end)
        return opens[0] if opens else upto

    def _written(self, text: str) -> str:
        """*text* as it is shown; of the chunks that a name may mean, the first. White space at its end waits."""
        if not _SPECIAL.search(text):
            return text.rstrip(_WHITE)
        pieces = Sealed(text, self._chunks, tick="").pieces()
        out = ""
        numbers: dict[int, None] = {}
        for piece in pieces:
            if isinstance(piece, Marker):
                documents = (self._chunks[group[0]].document_id for group in piece.groups)
                fresh = {self._numbers.setdefault(name, len(self._numbers) + 1): None for name in documents}
                space = " " if fresh and not numbers and out and not out.endswith("\n") else ""
                out += space + "".join(f"[{number}]" for number in fresh if number not in numbers)
                numbers |= fresh
            else:
                out += f" {piece}" if numbers and out.endswith("]") and piece[0].isalnum() else piece
                numbers = {}
        return out.rstrip(_WHITE)

    def _forget(self, upto: int) -> None:
        """Let go of the lines before the last one; a fence that is open there is kept."""
        text = self._text
        code = code_spans(text)
        start = text.rfind("\n", 0, upto)
        fence = ""
        if code and code[-1][0] < start < code[-1][1]:
            opened = code[-1][0]
            fence = text[opened : text.find("\n", opened)]
        if start <= 0 and upto > _MOST:
            start = upto - 1
        if start > len(fence):
            self._text = fence + text[start:]
            self._shown = self._written(self._text[: len(fence) + upto - start])
