"""How code and tables look in a chunk: the little markup that ``graph.sentences`` understands and people can read."""

from __future__ import annotations

from collections.abc import Sequence

MAX_LANGUAGE_CHARS = 40


def fenced(code: str, language: str = "") -> str:
    """``code`` in a Markdown fence, to the letter; ``language`` is left out where it is no short name."""
    language = language if len(language) <= MAX_LANGUAGE_CHARS else ""
    fence = "~~~" if "```" in code else "```"
    return f"{fence}{language}\n{code.rstrip()}\n{fence}"


def table_row(cells: Sequence[str]) -> str:
    """One row of a table as the line ``| a | b |``."""
    return "| " + " | ".join(" ".join(cell.split()) for cell in cells) + " |"
