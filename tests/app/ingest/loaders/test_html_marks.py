"""Raised and lowered digits do not run into the number before them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.ingest.conftest import load_one, texts

NOTES = "<p><sup>1</sup> At noon.</p><p><sup>6</sup> In May.</p>"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("It holds 540<sup>1</sup> litres.", "It holds 540 litres."),
        ("It costs EUR 12.<sup>1</sup> More on demand.", "It costs EUR 12. More on demand."),
        ("It holds 71<a href='n.html#a'><sup>3</sup></a> cups.", "It holds 71 cups."),
        ("Ask the smith<sup><a href='#b'>4</a></sup> first.", "Ask the smith first."),
        ("It counts 3 × 10<sup>6</sup> or 10<sup>−3</sup>.", "It counts 3 × 10^6 or 10^−3."),
        ("The code is 101<sub>2</sub>, the board 2<sup>1</sup>/<sub>4</sub>.", "The code is 101_2, the board 2 1/4."),
        (
            "It has 4 m<sup>1</sup> of C<sub>6</sub>, the 4<sup>th</sup>, 8<sup>*</sup>.",
            "It has 4 m1 of C6, the 4th, 8*.",
        ),
    ],
)
def test_marks_behind_a_number(written: str, read: str, tmp_path: Path) -> None:
    """A note mark, by its link or its note, goes; exponents, indices and fractions stand apart from the number."""
    (path := tmp_path / "a.html").write_text(f"<p>{written}</p>{NOTES}", encoding="utf-8")
    assert texts(load_one(path)) == [read, "1 At noon.", "6 In May."]


def test_marks_in_cells_and_in_markdown(tmp_path: Path) -> None:
    """A mark in a cell belongs to that cell; Markdown keeps the tags."""
    (path := tmp_path / "a.md").write_text(
        "| Oil | Litres |\n|---|---|\n| A | 38<sup>2</sup> |\n| 40 | <sup>2</sup> none |\n\n2<sup>9</sup> cups.\n"
    )
    assert texts(load_one(path)) == ["| Oil | Litres |\n| A | 38 |\n| 40 | 2 none |", "2^9 cups."]
