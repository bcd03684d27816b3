"""Write code and tables in the little markup that ``graph.sentences`` understands and people can read."""

from __future__ import annotations

from collections.abc import Sequence

MAX_LANGUAGE_CHARS = 40


def fenced(code: str, info: str = "") -> str:
    """Put ``code`` in a Markdown fence, unchanged; the first word of ``info`` is its language, if it is short."""
    language = (info.split() or [""])[0]
    fence = "~~~" if "```" in code else "```"
    return f"{fence}{language if len(language) <= MAX_LANGUAGE_CHARS else ''}\n{code.rstrip()}\n{fence}"


def table_row(cells: Sequence[str]) -> str:
    """Return one row of a table as the line ``| a | b |``."""
    return "| " + " | ".join(" ".join(cell.split()) for cell in cells) + " |"
