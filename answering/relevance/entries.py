"""Find the row that a question looks up by its first cell: "Maximum pressure | 3 bar"."""

import re
from collections.abc import Sequence

from answering.relevance.named_things import content
from answering.text.blocks import cells, filled_columns, is_row, table_header
from answering.text.context import introduced_row
from answering.text.terms import coverage, english_idf, idf_shares, stem, vocabulary, words
from answering.types import Chunk

_ASKS_OTHERWISE = re.compile(
    r"\W*(?:(?:and |so )?(?:where|when|who\w*|why)|how (?:do|does|did|can|could|to|should|is|are))\b", re.IGNORECASE
)
"""A question for a place, a person or a way, of which a row that has only the name of a thing says nothing."""
SHORT_STEM = 4
"""Letters of a stem that says little of a field unless the word is the same: "fired", "Firing fee"."""
MIN_COVERED = 0.7
"""Share of the question's idf that a row has with its columns, its headings and its lead-in.

Of .5, .6, .7 and .8: ``docs/relevance.md``, "Entries"."""
MAX_WORDS = 15
"""Words of the longest sentence that says one thing, as the field of a record does."""


def is_looked_up(question: str, chunk: Chunk, n: int, fields: frozenset[str]) -> bool:
    """Whether *question* looks up sentence *n* of *chunk*, which has these *fields* of those that are asked for.

    It has most words of the question. It is a row, or a short sentence, with such a field, or a row that is an entry.
    """
    if is_row(chunk, n):
        names_it = bool(fields) or is_entry(question, chunk, n)
    else:
        names_it = bool(fields) and len(chunk.sentences[n].split()) <= MAX_WORDS
    return names_it and _covered(question, chunk, n) >= MIN_COVERED


def _covered(question: str, chunk: Chunk, n: int) -> float:
    """Return the share of the idf of *question* that sentence *n* has with its columns, lead-in and headings."""
    said = vocabulary(f"{chunk.headings}\n{introduced_row(chunk, n)}")
    return coverage(idf_shares(question, english_idf), said)


def is_entry(question: str, chunk: Chunk, n: int) -> bool:
    """Whether row *n* of *chunk* has the name that *question* asks for in its first cell.

    All of the question's other words stand above the table or in the names of its columns.
    """
    key, asked = content(cells(chunk.sentences[n])[0]), content(question)
    (header,) = table_header(chunk, n) or [n]
    above = chunk.sentences[header - 1] if header else ""
    around = content(f"{chunk.headings} {above} {filled_columns(chunk, n)}")
    return bool(key) and key <= asked <= key | around and not _ASKS_OTHERWISE.match(question)


def surely_named(named: frozenset[str], chunk: Chunk, n: int, asked: Sequence[str]) -> frozenset[str]:
    """Return those of *named* that are long, or of a word in the columns of sentence *n* that is one of *asked*."""
    as_asked = map(stem, frozenset(asked).intersection(words(filled_columns(chunk, n))))
    return frozenset(name for name in named if len(name) > SHORT_STEM) | named.intersection(as_asked)
