"""How rare a word is in English at large: the same in a garden of three chunks as in one of a million."""

import math
from functools import cache
from pathlib import Path

RANK_OF_OTHERS = 12_000
"""Stands in for the frequency rank of every stem that is not among the common ones."""
FLAT_RANKS = 30
"""Stems commoner than this rank carry next to nothing, but not quite."""


def english_idf(stem: str) -> float:
    """The weight of *stem*: the logarithm of its frequency rank in English over `FLAT_RANKS`, at least .1.

    By Zipf's law (1949) the rank of a word is inverse to its frequency, so this is an inverse document frequency but
    for constants. In a small collection it is the better one: there every word that is missing seems rare. The ranks
    are those of ``common_stems.txt``, made by ``training/common_stems.py``.
    """
    return max(0.1, math.log(_ranks().get(stem, RANK_OF_OTHERS) / FLAT_RANKS))


def is_common(stem: str) -> bool:
    """Whether *stem* is among the common ones of English."""
    return stem in _ranks()


@cache
def _ranks() -> dict[str, int]:
    stems = Path(__file__).with_name("common_stems.txt").read_text(encoding="utf-8").split()
    return {stem: rank for rank, stem in enumerate(stems, start=1)}
