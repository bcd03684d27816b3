"""Tell whether a question looks up a row or the field of a record: it has a field that is asked for, and most words."""

from collections.abc import Sequence

from answering.text.blocks import filled_columns, is_row
from answering.text.context import introduced_row
from answering.text.terms import coverage, english_idf, idf_shares, stem, vocabulary, words
from answering.types import Chunk

SHORT_STEM = 4
"""Letters of a stem that says little of a field unless the word is the same: "fired", "Firing fee"."""
MIN_COVERED = 0.7
"""Share of the question's idf that a row has with its columns, its headings and its lead-in.

Of .5, .6, .7 and .8: ``docs/relevance.md``, "Entries"."""
MAX_WORDS = 15
"""Words of the longest sentence that says one thing, as the field of a record does."""


def is_looked_up(question: str, chunk: Chunk, n: int, fields: frozenset[str]) -> bool:
    """Whether *question* looks up sentence *n* of *chunk*, which has these *fields* of those that are asked for.

    It is a row, or a short sentence, with such a field and most words of the question.
    """
    is_short = is_row(chunk, n) or len(chunk.sentences[n].split()) <= MAX_WORDS
    return bool(fields) and is_short and _covered(question, chunk, n) >= MIN_COVERED


def _covered(question: str, chunk: Chunk, n: int) -> float:
    """Return the share of the idf of *question* that sentence *n* has with its columns, lead-in and headings."""
    said = vocabulary(f"{chunk.headings}\n{introduced_row(chunk, n)}")
    return coverage(idf_shares(question, english_idf), said)


def surely_named(named: frozenset[str], chunk: Chunk, n: int, asked: Sequence[str]) -> frozenset[str]:
    """Return those of *named* that are long, or of a word in the columns of sentence *n* that is one of *asked*."""
    as_asked = map(stem, frozenset(asked).intersection(words(filled_columns(chunk, n))))
    return frozenset(name for name in named if len(name) > SHORT_STEM) | named.intersection(as_asked)
