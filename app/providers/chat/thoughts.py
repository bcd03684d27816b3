"""Reasoning models think aloud between ``<think>`` and ``</think>``; a reader is shown only what comes after."""

from __future__ import annotations

import re

_TAG = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_LONGEST_TAG = len("</thinking>")


class Thoughts:
    """Takes thoughts out of a text that comes in pieces; a thought that is never closed takes the rest with it."""

    def __init__(self) -> None:
        self._waiting = ""
        self._thinking = False

    def feed(self, piece: str) -> str:
        """Return what may be shown now; a ``<`` that may become a tag waits for the next piece."""
        self._waiting += piece
        return self._shown(final=False)

    def close(self) -> str:
        """Return what was still waiting, now that no more text comes."""
        return self._shown(final=True)

    def _shown(self, *, final: bool) -> str:
        shown = ""
        while tag := _TAG.search(self._waiting):
            if not self._thinking:
                shown += self._waiting[: tag.start()]
            self._waiting = self._waiting[tag.end() :]
            self._thinking = not tag[1]
        cut = len(self._waiting) if final else len(self._waiting) - _unfinished_tag(self._waiting)
        if not self._thinking:
            shown += self._waiting[:cut]
        self._waiting = self._waiting[cut:]
        return shown


def without_thoughts(text: str) -> str:
    """*text* without its thoughts.

    A ``</think>`` that nothing opened closes a thought that began before the text did, as with models whose template
    writes the opening tag for them: all before it goes.
    """
    first = _TAG.search(text)
    if first and first[1]:
        text = text[first.end() :]
    thoughts = Thoughts()
    return (thoughts.feed(text) + thoughts.close()).strip()


def _unfinished_tag(text: str) -> int:
    """Length of the end of *text* that may be the beginning of a tag."""
    start = text.rfind("<", max(0, len(text) - _LONGEST_TAG + 1))
    if start < 0:
        return 0
    tail = text[start:].lower()
    return len(tail) if any(tag.startswith(tail) for tag in ("<thinking>", "</thinking>", "<think>", "</think>")) else 0
