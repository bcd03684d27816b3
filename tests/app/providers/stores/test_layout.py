"""What is indexed of a chunk says where the chunk stands, once."""

from __future__ import annotations

import pytest

from app.providers.stores.layout import indexed_text


@pytest.mark.parametrize(
    ("title", "chapter", "section", "text", "indexed"),
    [
        ("Guide", "Install", "Linux", "Run it.", "Guide. Install. Linux. Run it."),
        ("Guide", "Install", "Linux", "Linux\n\nRun it.", "Guide. Install. Linux\n\nRun it."),
        ("Guide", "Install", "Mac", "Linux\n\nNo.\n\nMac\n\nYes.", "Guide. Install. Linux\n\nNo.\n\nMac\n\nYes."),
        ("Guide", "Install", "Install", "Install\n\nRun it.", "Guide. Install\n\nRun it."),
        ("Guide", "Install", "Install", "Run it.", "Guide. Install. Run it."),
        ("Guide", None, "Guide", "Run it.", "Guide. Run it."),
        ("", None, None, "Run it.", "Run it."),
        (None, "Install", None, "Installing.", "Install. Installing."),
    ],
)
def test_the_position_of_a_chunk_is_indexed_once(
    title: str | None, chapter: str | None, section: str | None, text: str, indexed: str
) -> None:
    """Title, chapter and section stand before the text, and none of them a second time."""
    assert indexed_text({"title": title, "chapter": chapter, "section": section}, text) == indexed


def test_metadata_of_other_writers_is_indexed() -> None:
    """Metadata without chapter and section, or with some that are no text, indexes the text with its title."""
    assert indexed_text({"title": "T", "section": 3, "chapter": ["x"]}, "Words.") == "T. Words."
    assert indexed_text({}, "Words.") == "Words."
