"""Read the rows of JSON Lines files."""

import json
import lzma
from pathlib import Path
from typing import Any

DATA = Path(__file__).parent / "data"
"""The folder of the packed files that were written for this project."""


def read_rows(path: Path) -> list[dict[str, Any]]:
    """Read the rows of a JSON Lines file, which may be packed (.xz)."""
    with lzma.open(path, "rt", encoding="utf-8") if path.suffix == ".xz" else path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]
