"""No word a reader of the file sees is lost on the way to the chunks."""

from __future__ import annotations

import re
import tempfile
from itertools import count
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.app.ingest.conftest import load_one, split_one

TEXT = [
    *("W W\n\n", "W\n===\n\n", "W W\n---\n\n", "---\nW\n---\nw.\n\n", "W, w\n\n", "W w w.\n\n", "W w\nw w\n\n"),
    *("- w w\n- w\n\n", "1. w\n   w\n\n", "w    w\nw    w\n\n", "\f"),
]
MARKDOWN = [
    *(f"{'#' * level} W w\n\n" for level in range(1, 5)),
    *("W\n===\n\n", "> # W\n\n", "W w.\n\n", "W **w** `w` [w](u)\nw\n\n", "> W w.\n\n", "<h2>W</h2>\n\n", "w<br>w\n\n"),
    *("- w\n- w\n  - w\n\n", "1. w\n\n   w\n\n", "- # w\n\n  > w\n  >\n  > - w\n\n  <p>w</p>\n\n"),
    *("| w | w |\n|---|---|\n| w | w |\n\n", "```\nw w\n```\n\n"),
]


def numbered(pieces: list[str]) -> str:
    """The pieces in a row, each ``w`` or ``W`` of them a word that comes only once.

    Letters number them: lines that differ in a number only are taken for the running head of their pages.
    """
    number = count()
    return re.sub("w", lambda found: f"{found.group()}{_letters(next(number))}x", "".join(pieces), flags=re.IGNORECASE)


def _letters(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def missing(content: str, suffix: str) -> list[str]:
    """The words of a file that stand neither in its title nor in a chunk, its chapter or its section."""
    with tempfile.TemporaryDirectory() as folder:
        (path := Path(folder, f"a{suffix}")).write_text(content)
        split = split_one(load_one(path))
    kept = [split.title, *(f"{chunk.chapter} {chunk.section} {chunk.text}" for chunk in split.chunks)]
    found = set(re.findall(r"[Ww][a-j\d]+x", " ".join(kept)))
    for chunk in split.chunks:
        assert all(chunk.text[start:end].strip() for start, end in chunk.spans)
    return [word for word in re.findall(r"[Ww][a-j\d]+x", content) if word not in found]


@settings(max_examples=100)
@given(st.lists(st.sampled_from(TEXT), min_size=1, max_size=12).map(lambda pieces: numbered([*pieces, "w.\n"])))
@example("W1x\n\nW2x 555 0100\n\nW3x 555 0199\n\nW4x 555 0123\n\nW5x.")
def test_no_word_of_plain_text_is_lost(content: str) -> None:
    """Every word of a plain text is in a chunk or in the title, whatever looks like a heading there."""
    assert missing(content, ".txt") == []


@settings(max_examples=100)
@given(st.lists(st.sampled_from(MARKDOWN), min_size=1, max_size=12).map(lambda pieces: numbered([*pieces, "w\n"])))
@example("# W1x\n\n## W2x\n\n## W3x\n\n### W4x\n\n#### W5x\n\nw6x\n\n## W7x\n")
def test_no_word_of_markdown_is_lost(content: str) -> None:
    """Every word of a Markdown file is in a chunk, its place or the title, however its headings follow each other."""
    assert missing(content, ".md") == []
