"""Plain text keeps what its layout says."""

from __future__ import annotations

from pathlib import Path

from tests.ingest.conftest import load_one, places, texts

NOTES = """\
Cart Notes

These notes are for technicians who look after carts at
customer sites, wherever they are.

Daily check

The operator tests the brakes
every morning.

  1. Measure the tread. Replace both
     wheels when worn.
  2. Tighten the bolts.

Lights

  Solid blue       ready
  Blinking amber   blocked
"""


def test_structure_of_text(tmp_path: Path) -> None:
    """Short lines of their own are headings, the first one the title."""
    (path := tmp_path / "notes.txt").write_text(NOTES)
    document = load_one(path)
    assert document.title == "Cart Notes"
    assert [block.section for block in document.blocks] == [None, "Daily check", "Daily check", "Lights"]


def test_wrapped_lines_are_joined(tmp_path: Path) -> None:
    """A wrapped paragraph is one line, an item is one line, aligned columns stay lines."""
    (path := tmp_path / "notes.txt").write_text(NOTES)
    opening, brakes, steps, lights = texts(load_one(path))
    assert opening == "These notes are for technicians who look after carts at customer sites, wherever they are."
    assert brakes == "The operator tests the brakes every morning."
    assert steps == "  1. Measure the tread. Replace both wheels when worn.\n  2. Tighten the bolts."
    assert lights == "  Solid blue       ready\n  Blinking amber   blocked"


def test_underlined_headings_and_pages(tmp_path: Path) -> None:
    """Ruled lines are headings by their rule; form feeds count pages from 1."""
    text = "=====\nTitle\n=====\n\nOne\n---\nText one.\n\fText two.\n"
    (path := tmp_path / "a.txt").write_text(text)
    document = load_one(path)
    assert document.title == "Title"
    assert places(document) == [(None, "One", 1, "Text one."), (None, "One", 2, "Text two.")]
