"""Where things are in the checkout."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
KNOWLEDGE = ROOT / "knowledge"
DATA = ROOT / "tests" / "documents" / "data"
