"""The text around markers that were taken out, mended."""

from __future__ import annotations

from collections.abc import Sequence

_CLOSING = frozenset(".,;:!?)]}»…%’”")
_QUOTING = frozenset("\"'*_`~|")


def tidy(pieces: Sequence[str | None]) -> list[str]:
    """The strings around dropped markers (None), mended: no space before punctuation, none doubled, none lost."""
    out: list[str] = []
    dropped = False
    for piece in pieces:
        if piece is None:
            dropped = True
            continue
        if dropped and out:
            out[-1], piece = mended(out[-1], piece)
        elif dropped:
            piece = piece.lstrip(" \t")
        out.append(piece)
        dropped = False
    if dropped and out:
        out[-1] = out[-1].rstrip(" \t")
    return out


def mended(left: str, right: str) -> tuple[str, str]:
    """Two strings between which a marker stood, with the white space that belongs there at the head of the second."""
    before, after = left.rstrip(" \t"), right.lstrip(" \t")
    if not before or not after or before[-1] == "\n" or after[0] in "\n\r" or after[0] in _CLOSING:
        return before, after
    spaced = len(after) < len(right) if after[0] in _QUOTING else len(before) < len(left) or len(after) < len(right)
    return before, f" {after}" if spaced or (before[-1].isalnum() and after[0].isalnum()) else after
