"""The answer as text: where its markers stand, and how the two interfaces write them."""

from __future__ import annotations

import pytest

from answering.render import SNIPPET_CHARS, named, numbered, snippet
from answering.types import Citation


def citation(
    marker: int, source: str = "safety_manual.pdf", page: int | None = 5, section: str | None = None
) -> Citation:
    return Citation(marker, f"d{marker}", f"c{marker}", "s", "q", 0, 1, 1.0, "t", source, page, section)


CITATIONS = [citation(1), citation(2, "guide.md", None, "Set[up]"), citation(1, page=6), citation(3, "notes.txt", None)]


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["It is red.", 0, " It is blue.", 1], "It is red [1]. It is blue [2]."),
        (["It is red", 0, ", and blue", 1, "."], "It is red [1], and blue [2]."),
        (["It is red.", 0, 1, 2], "It is red [1][2]."),
        (["Is it “red?”", 0, " Yes."], "Is it “red [1]?” Yes."),
        (["In the U.S.", 0, " and abroad."], "In the U.S. [1] and abroad."),
        (["It goes on...", 0], "It goes on... [1]"),
        (["```\ncode\n```\n", 0], "```\ncode\n```\n[1]"),
        (["It may be red (blue, etc.)", 0, ". Yes."], "It may be red (blue, etc.) [1]. Yes."),
        (["- red", 0, "\n- blue", 1], "- red [1]\n- blue [2]"),
        ([0, "red"], "[1]red"),
        ([], ""),
    ],
)
def test_a_marker_stands_before_the_full_stop(pieces: list[str | int], expected: str) -> None:
    """A marker stands a space after its words and before their full stop, and once where several quotes share it."""
    assert numbered(pieces, CITATIONS).text == expected


def test_the_answer_says_where_its_markers_stand() -> None:
    """Each citation has the places of its markers; a bracket of the document is none of them."""
    answer = numbered(["  See [12].", 0, 1, " Again", 0, "."], CITATIONS)
    assert answer.text == "See [12] [1][2]. Again [1]."
    assert answer.markers == {0: [(9, 12), (23, 26)], 1: [(12, 15)]}


def test_the_library_writes_the_position() -> None:
    """The library's markers name document and page, or section, or the document alone, without own brackets."""
    text = named(["Red.", 0, " Blue.", 1, " Green.", 3], CITATIONS)
    assert text == "Red [safety_manual.pdf, page 5]. Blue [guide.md, section Set(up)]. Green [notes.txt]."


@pytest.mark.parametrize("start", [0, 100, 500, 990])
def test_a_snippet_shows_the_quote(start: int) -> None:
    """A snippet is short, cut between words, and holds the whole of a quote that fits into it."""
    text = " ".join(f"word{i:03}" for i in range(150))
    first = text.find("word", start)
    quote = text[first : first + 47]
    found = snippet(text, first, first + 47)
    assert quote in found
    assert len(found) <= SNIPPET_CHARS
    assert found.strip("…") in text
    assert all(len(word) == len("word000") for word in found.strip("…").split())


def test_a_short_text_is_its_own_snippet() -> None:
    """A text that fits is shown whole, and of a quote that does not fit its beginning is."""
    assert snippet("It is red.", 3, 5) == "It is red."
    assert snippet("x" * 1000, 200, 900).strip("…") == "x" * (SNIPPET_CHARS - 2)
