"""Whether brackets glued to a word are an array index, as in ``rows[1]``, or a citation set without a space."""

from __future__ import annotations

import re

_NAME = re.compile(r"[A-Za-z_][\w.]*\Z")
_HUMPS = re.compile(r"_|(?<=[a-z])(?=[A-Z])")
_CODE_AFTER = re.compile(r"\.[a-z_]\w*\(| ?=|\+\+")
_CODE_NAMES = frozenset(
    "arr array arrays args argv buf buffer data df elem elements index items list lists lst mat matrix nums params "
    "ptr row rows str tuple tuples values vals vec vector xs".split()
)
_LOOK_BACK = 64


def indexed_name(text: str, start: int, end: int) -> str | None:
    """The name that the brackets at *start*:*end* of *text* index, or None when they do not look like an index.

    A word of prose may carry a citation without a space ("vitamin C[1]", "LangGraph[2]"), so a name must look like
    code: an array's usual name, ``snake_case``, one small letter, the index 0, or what follows in code.
    """
    found = _NAME.search(text[max(0, start - _LOOK_BACK) : start])
    if found is None:
        return None
    name = found[0]
    last = name.rsplit(".", 1)[-1]
    if not last:  # the point of "U.S." or of a sentence
        return None
    inside = text[start + 1 : end - 1].strip()
    looks_like_code = (
        _HUMPS.split(last)[-1].lower() in _CODE_NAMES
        or (len(last) == 1 and last.islower() and last not in "ai")
        or ("_" in last and not last.isupper())
        or (inside.isdecimal() and int(inside) == 0)
    )
    return name if looks_like_code or _CODE_AFTER.match(text, end) else None
