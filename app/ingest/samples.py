"""Find the sample documents, beside ``app`` in a checkout and in an installed wheel."""

from pathlib import Path

SAMPLE_FOLDER = Path(__file__).resolve().parents[2] / "knowledge"
SAMPLES = (".md", ".html", ".txt", ".rst", ".pdf")
"""Suffixes of the sample documents; the JSON files are questions and tasks."""


def sample_paths() -> list[Path]:
    """Return the sample documents, by name."""
    return sorted(path for path in SAMPLE_FOLDER.iterdir() if path.suffix in SAMPLES)
