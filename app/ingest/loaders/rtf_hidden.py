"""Drop from Rich Text Format what its page does not show: deleted and hidden text, which striprtf reads as text.

``\\deleted`` (a tracked deletion) and ``\\v`` (hidden) hold up to the word with ``0``, ``\\plain`` or the end of the
group (RTF Specification 1.9.1, character formatting and revision marks).
"""

import re

_TOKEN = re.compile(r"\\([a-z]+)(-?\d+)? ?|\\'[0-9a-f]{2}|\\[^a-z]|[{}]|[^\\{}]+", re.IGNORECASE)
_HIDES = re.compile(r"\\(?:deleted|v)(?![a-z])")
_WRITTEN = frozenset("u par line tab emdash endash bullet lquote rquote ldblquote rdblquote emspace enspace".split())
"""Words of RTF that stand for text; the others, such as the end of a cell, stay."""


def without_hidden(markup: str) -> tuple[str, str]:
    """Return the markup without its deleted and hidden text, and the markup of the hidden text, a group each."""
    if not _HIDES.search(markup):
        return markup, ""
    kept: list[str] = []
    hidden: list[str] = []
    state: frozenset[str] = frozenset()
    groups: list[frozenset[str]] = []
    for found in _TOKEN.finditer(markup):
        piece, word = found[0], found[1]
        before = state
        if piece == "{":
            groups.append(state)
        elif piece == "}":
            state = groups.pop() if groups else frozenset()
        elif word == "plain":
            state = frozenset()
        elif word in ("deleted", "v"):
            state = state - {word} if found[2] == "0" else state | {word}
        is_text = word in _WRITTEN or (not word and piece not in ("{", "}"))
        if "v" in state:
            hidden.append(piece if "v" in before else "{")
        elif "v" in before:
            hidden.append("}\\line ")
        if not (state and is_text):
            kept.append(piece)
    return "".join(kept), "".join(hidden)
