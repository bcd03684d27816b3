"""Markers in a stream: text is shown as it comes, a marker only when it is whole.

What is streamed is provisional, since a marker is verified when the answer is done; the final answer replaces it.
"""

from __future__ import annotations

from collections.abc import Sequence

from graph.citations import held_back, parse
from graph.state import Chunk


class LiveMarkers:
    """Turns the synthesizer's text, piece by piece, into text whose ``[k]`` count documents in order of appearance."""

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self._chunks = chunks
        self._numbers: dict[str, int] = {}
        self._waiting = ""
        self._fences = 0

    def feed(self, text: str) -> str:
        """Take the next piece; return what may be shown now, perhaps nothing."""
        self._waiting += text
        keep = 0 if self._in_code() else held_back(self._waiting)
        return self._show(len(self._waiting) - keep)

    def close(self) -> str:
        """Return what was held back; a marker that never closed is not shown."""
        keep = held_back(self._waiting)
        return self._show(len(self._waiting) - keep)

    def _in_code(self) -> bool:
        return (self._fences + self._waiting.count("```")) % 2 == 1

    def _show(self, upto: int) -> str:
        ready, self._waiting = self._waiting[:upto], self._waiting[upto:]
        inside = self._fences % 2 == 1
        self._fences += ready.count("```")
        if inside or not ready:
            return ready
        return "".join(
            piece if isinstance(piece, str) else self._numbered(piece.chunks if not piece.any_of else piece.chunks[:1])
            for piece in parse(ready, self._chunks)
        )

    def _numbered(self, places: Sequence[int]) -> str:
        numbers = dict.fromkeys(
            self._numbers.setdefault(self._chunks[place].document_id, len(self._numbers) + 1) for place in places
        )
        return "".join(f"[{number}]" for number in numbers)
