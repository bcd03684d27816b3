"""Show streamed text as it comes, and a marker only when it is complete.

What is streamed is provisional, since markers are verified when the answer is complete; the final answer replaces it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from graph.citing.marked_text import MarkedText, unclosed_bracket
from graph.citing.markers import Marker, names_of
from graph.sentences import code_spans
from graph.state import Chunk

PATIENCE = 60
"""Most characters held back after a bracket, or those of the longest document's name with a page."""

_WINDOW = 400
"""Characters after which the lines, or words, that were shown are no longer read again with what follows."""

_SPECIAL = re.compile(r"[\[【［`~]")
_MAY_BE_LINK = re.compile(r"\[[^\[\]]{0,300}\](?:\([^()\s]{0,200})?\Z")
_WAITS = " \t\\"


class MarkerStream:
    """Turns the synthesizer's text into text whose ``[k]`` count documents in order of appearance."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        longest = max((len(name) for chunk in chunks for name in names_of(chunk)), default=0)
        self._patience = min(300, max(PATIENCE, longest + 30))
        self._numbers: dict[str, int] = {}
        self._text = ""  # the end of what was shown, and what waits
        self._shown = ""  # what was shown of it

    def feed(self, text: str) -> str:
        """Take the next piece; return what may be shown now, perhaps nothing."""
        self._text += text
        return self._show(final=False)

    def close(self) -> str:
        """Return what was held back, without a marker that never closed."""
        return self._show(final=True)

    def _show(self, *, final: bool) -> str:
        end = self._complete(final=final)
        written = self._written(self._text[:end])
        fresh = written[len(self._shown) :]
        self._shown = max(self._shown, written, key=len)
        if end > _WINDOW:
            self._forget(end)
        return fresh

    def _complete(self, *, final: bool) -> int:
        """Find the first bracket or backtick that may still become a marker or code; without one, the end."""
        text, end = self._text, len(self._text)
        if not _SPECIAL.search(text):
            return end
        if not final:
            tick = text.find("`", max(text.rfind("\n") + 1, max((stop for _, stop in code_spans(text)), default=0)))
            link = _MAY_BE_LINK.search(text, max(0, end - 520))
            end = tick if tick >= 0 and end - tick <= 2 * PATIENCE else end
            end = min(end, link.start()) if link else end
        return unclosed_bracket(text, len(text) - self._patience - 1, end)

    def _written(self, text: str) -> str:
        """Write *text* as it is shown, a name as its first chunk; white space and a backslash at its end wait."""
        if not _SPECIAL.search(text):
            return text.rstrip(_WAITS)
        out = ""
        numbers: dict[int, None] = {}
        for piece in MarkedText(text, self._chunks, tick="").pieces():
            if isinstance(piece, Marker):
                documents = (self._chunks[group[0]].document_id for group in piece.groups)
                fresh = {self._numbers.setdefault(name, len(self._numbers) + 1): None for name in documents}
                space = " " if fresh and not numbers and out and not out.endswith("\n") else ""
                out += space + "".join(f"[{number}]" for number in fresh if number not in numbers)
                numbers |= fresh
            else:
                out += f" {piece}" if numbers and out.endswith("]") and piece[0].isalnum() else piece
                numbers = {}
        return out.rstrip(_WAITS)

    def _forget(self, end: int) -> None:
        """Drop the lines before the last one, or the words; the opening line of a code block is kept."""
        text = self._text
        code = code_spans(text)
        start = text.rfind("\n", 0, end)
        fence = ""
        if code and code[-1][0] < start < code[-1][1]:
            fence = text[code[-1][0] : text.find("\n", code[-1][0])]
        if start <= 0:
            start = max(text[:end].rstrip().rfind(" "), end - _WINDOW)
        if start > len(fence):
            self._text = fence + text[start:]
            self._shown = self._written(self._text[: len(fence) + end - start])
