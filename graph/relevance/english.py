"""Weigh words by how rare they are in English, in a collection of any size."""

import math
from functools import cache
from pathlib import Path

RANK_OF_OTHERS = 12_000
"""Frequency rank of every stem that is not in the file."""
FLAT_RANKS = 30
"""Stems with a lower rank carry almost no weight."""


def english_idf(stem: str) -> float:
    """Return the weight of *stem*: the log of its English frequency rank over `FLAT_RANKS`, at least .1.

    By Zipf's law (1949) a word's rank is inverse to its frequency, so this is an idf up to constants; in a small
    collection every missing word seems rare. The ranks are of ``common_stems.txt`` (``training/common_stems.py``).
    """
    return max(0.1, math.log(_ranks().get(stem, RANK_OF_OTHERS) / FLAT_RANKS))


@cache
def _ranks() -> dict[str, int]:
    stems = Path(__file__).with_name("common_stems.txt").read_text(encoding="utf-8").split()
    return {stem: rank for rank, stem in enumerate(stems, start=1)}
