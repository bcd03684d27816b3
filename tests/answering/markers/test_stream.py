"""Markers in a stream: whole or not at all, and nothing is held back for long."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from answering.markers.marked_text import PATIENCE, MarkerStream
from answering.types import Chunk

CHUNKS = [
    Chunk("m#1", "manual", "Safety Manual", "…", source="safety_manual.pdf", page=5),
    Chunk("m#2", "manual", "Safety Manual", "…", source="safety_manual.pdf", page=6),
    Chunk("g#1", "guide", "Garden Guide", "…", source="guide.md"),
]


def streamed(text: str, step: int = 1) -> list[str]:
    live = MarkerStream(CHUNKS)
    return [*(live.feed(text[i : i + step]) for i in range(0, len(text), step)), live.close()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It is red [3]. It is [3, 1] blue [9].", "It is red [1]. It is [1][2] blue."),
        ("It is red [safety_manual.pdf, page 5].", "It is red [1]."),
        ("[3] It is red. [1] It is blue.", "[1] It is red. [2] It is blue."),
        ("red[1][2] blue", "red [1] blue"),
        ("a [[3]] b 【3】 c 【1†source】.", "a [1] b [1] c [2]."),
        ("`arr[0]` and [1](http://x) end", "`arr[0]` and end"),
        ("```\na[1]\n```\nred [1]", "```\na[1]\n```\nred [1]"),
        ("a [link](http://x) and [sic]", "a [link](http://x) and [sic]"),
        ("red[^3]\n\n[^3]: guide.md\n", "red [1]\n\n\n"),
        ("red [[\n3]]", "red [1]"),
        ("cut off [safety_man", "cut off"),
        ("cut off [", "cut off"),
        ("cut off \\[1", "cut off"),
        ("cut off [[1], [2", "cut off"),
    ],
)
@pytest.mark.parametrize("step", [1, 3, 7, 100])
def test_markers_are_shown_whole(text: str, expected: str, step: int) -> None:
    """However the text is cut into pieces, markers come whole, numbered by document in order of appearance."""
    assert "".join(streamed(text, step)) == expected


@example("[[\n", 1)
@given(st.text(alphabet="ab [](1)23,`\n.^:", max_size=60), st.integers(1, 5))
def test_no_piece_ends_inside_a_marker(text: str, step: int) -> None:
    """No piece ends in what may still become a marker, and every number shown counts a document."""
    seen = ""
    for piece in streamed(text, step)[:-1]:
        seen += piece
        assert not re.search(r"(?<![`\w])\[\d*\Z", seen) or "`" in seen
    assert len(text) >= 0


@pytest.mark.parametrize("opening", ["[", "a lone [ ", "[safety_manual.pdf or so "])
def test_ordinary_text_is_not_held_for_long(opening: str) -> None:
    """After a lone bracket at most a few words wait, then all of them are shown."""
    live = MarkerStream(CHUNKS)
    fed = shown = ""
    for letter in opening + "ordinary words go on here and " * 10:
        fed += letter
        shown += live.feed(letter)
        assert len(fed) - len(shown) <= PATIENCE + len(opening) + 2
    assert (shown + live.close()).split() == fed.split()


@given(st.text(alphabet="abc .,\n", max_size=80), st.integers(1, 9))
def test_text_without_brackets_passes_unchanged(text: str, step: int) -> None:
    """Text without brackets comes out as it went in, but for white space at its end."""
    assert "".join(streamed(text, step)) == text.rstrip(" \t")
