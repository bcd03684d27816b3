"""What is embedded of a chunk says where it stands."""

from __future__ import annotations

from pathlib import Path

from app.ingest.sink import texts_of
from tests.app.ingest.conftest import load_one, split_one


def test_a_chunk_is_embedded_with_its_place(tmp_path: Path) -> None:
    """Title, chapter and section stand before the text of a chunk once; its sentences are embedded alone."""
    (path := tmp_path / "a.md").write_text("# Guide\n\n## Install\n\n### Linux\n\nRun it.\n\n## Use\n\nEnjoy it.\n")
    split = split_one(load_one(path))
    assert [text for chunk in split.chunks for text in texts_of(split.title, chunk)] == [
        "Guide. Install. Linux\n\nRun it.",
        "Run it.",
        "Guide. Use\n\nEnjoy it.",
        "Enjoy it.",
    ]
