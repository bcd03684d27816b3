"""Remove a reasoning model's ``<think>…</think>`` from a stream or a complete text."""

import re

_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_UNFINISHED_TAG = re.compile(r"</?(?:t|th|thi|thin|think(?:i|in|ing)?)?\Z", re.IGNORECASE)


class ThoughtFilter:
    """Removes thoughts from a streamed text; an unclosed thought removes the rest."""

    def __init__(self) -> None:
        self._pending = ""
        self._thinking = False

    def feed(self, piece: str, *, final: bool = False) -> str:
        """Return what may be shown now; unless *final*, hold back a ``<`` that may open a tag."""
        self._pending += piece
        shown = ""
        while tag := _TAG.search(self._pending):
            shown += "" if self._thinking else self._pending[: tag.start()]
            self._pending = self._pending[tag.end() :]
            self._thinking = not tag[1]
        unfinished = None if final else _UNFINISHED_TAG.search(self._pending)
        cut = unfinished.start() if unfinished else len(self._pending)
        shown += "" if self._thinking else self._pending[:cut]
        self._pending = self._pending[cut:]
        return shown


def without_thoughts(text: str) -> str:
    """Return *text* without its thoughts, stripped.

    A ``</think>`` without an opening tag, which some models' templates write for them, removes all before it.
    """
    first = _TAG.search(text)
    if first and first[1]:
        text = text[first.end() :]
    return ThoughtFilter().feed(text, final=True).strip()
