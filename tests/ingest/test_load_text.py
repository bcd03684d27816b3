"""Plain text keeps what its layout says."""

from __future__ import annotations

from pathlib import Path

from tests.ingest.conftest import load_one, places, split_one, texts

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


def test_lines_in_a_row_are_no_headings(tmp_path: Path) -> None:
    """Short lines that follow each other are lines, each a sentence of its own; the first is the title."""
    lines = ["Reception 555 0100", "Security 555 0199", "Nurse 555 0123"]
    (path := tmp_path / "a.txt").write_text("\n\n".join(["Contacts", *lines, "Call security first in an emergency."]))
    (chunk,) = split_one(document := load_one(path)).chunks
    assert (document.title, chunk.section) == ("Contacts", None)
    assert [chunk.text[start:end] for start, end in chunk.spans][:3] == lines


def test_a_heading_below_the_title_is_one(tmp_path: Path) -> None:
    """The line that opens a document is its title, and the one below it, before text, a heading."""
    (path := tmp_path / "a.txt").write_text("Notes\n\nDaily check\n\nThe operator tests the brakes.\n")
    document = load_one(path)
    assert document.title == "Notes"
    assert places(document) == [(None, "Daily check", None, "The operator tests t")]


def test_a_heading_without_text_keeps_its_page(tmp_path: Path) -> None:
    """A heading with nothing below it is text of the page it stands on."""
    (path := tmp_path / "a.txt").write_text("Title\n=====\n\nText one.\n\fOne\n---\n\nTwo\n---\n\nText two.\n")
    assert places(load_one(path))[1:] == [(None, None, 2, "One"), (None, "Two", 2, "Text two.")]
