"""Find the sample documents, which lie beside ``app`` in a checkout and in an installed wheel."""

from __future__ import annotations

from pathlib import Path

SAMPLES = (".md", ".html", ".txt", ".rst", ".pdf")
"""What of the sample folder is a document; its JSON files are questions and tasks."""


def sample_folder() -> Path:
    """The folder of the sample garden, beside ``app`` in a checkout and in an installed wheel alike."""
    return Path(__file__).resolve().parents[2] / "knowledge"


def sample_paths(folder: Path) -> list[Path]:
    """The sample documents of *folder*, by name."""
    return sorted(path for path in folder.iterdir() if path.suffix in SAMPLES)
