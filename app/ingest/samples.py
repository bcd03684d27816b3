"""Find the sample documents, beside ``app`` in a checkout and in an installed wheel."""

from pathlib import Path

SAMPLES = (".md", ".html", ".txt", ".rst", ".pdf")
"""Suffixes of the sample documents; the JSON files are questions and tasks."""


def sample_folder() -> Path:
    """Return the folder of the sample documents."""
    return Path(__file__).resolve().parents[2] / "knowledge"


def sample_paths(folder: Path) -> list[Path]:
    """Return the sample documents of *folder*, by name."""
    return sorted(path for path in folder.iterdir() if path.suffix in SAMPLES)
