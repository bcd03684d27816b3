"""Find the rows of a table that a question asks for by a value: "Which products contain egg?", of yes and no.

They are those that a count would count (``counted_rows``): certain, or none.
"""

import re
from collections.abc import Sequence

from answering.relevance.counted_rows import (
    ASKS_COUNT,
    NO,
    YES,
    Table,
    count_rows,
    in_order,
    matching_rows,
    may_count,
    tables_of,
)
from answering.relevance.extremes import ASKS_EXTREME, extreme_rows, may_compare
from answering.relevance.named_things import content
from answering.text.blocks import cells
from answering.text.terms import AUXILIARIES
from answering.types import Chunk, FoundSentences

ASKS_LIST = re.compile(
    r"\A\W*(?:(?:please )?(?:list|name|show)(?: me)?(?: all)?|which|what)\b(?: of)?(?: the)?"
    rf"(?= (?!(?:{'|'.join(AUXILIARIES)}|happens?)\b)\w+ )",
    re.IGNORECASE,
)
"""A question that the functions here are for."""
_DENIES = re.compile(r"\b(?:not|no|never|cannot|without|free (?:of|from))\b|n['’]t\b", re.IGNORECASE)
MAX_LISTED = 12
"""Most rows that are shown, as of a list in an answer."""


def listed_rows(question: str, chunks: Sequence[Chunk]) -> tuple[FoundSentences, ...]:
    """Return the rows of *chunks*, all of one document, that *question* asks for; () where they are not certain."""
    rows = _denied(question, in_order(chunks)) if _DENIES.search(question) else count_rows(_as_count(question), chunks)
    return rows if sum(len(found.numbers) for found in rows) <= MAX_LISTED else ()


def may_list(question: str, chunk: Chunk) -> bool:
    """Whether *chunk* alone has rows that *question* asks for."""
    if _DENIES.search(question):
        return bool(_denied(question, [chunk]))
    return may_count(_as_count(question), chunk)


def _denied(question: str, chunks: Sequence[Chunk]) -> tuple[FoundSentences, ...]:
    """Return the rows that say no to what *question* denies, "Which products contain no milk?"; of one table alone."""
    asserted = _DENIES.sub(" ", question, count=1)
    found = [rows for table in tables_of(chunks) if (rows := _saying_no(asserted, table))]
    return tuple(FoundSentences(chunk, (n,)) for chunk, n in found[0]) if len(found) == 1 else ()


def _saying_no(asserted: str, table: Table) -> list[tuple[Chunk, int]]:
    """Return the rows of *table* with a no in the one column of yes and no that *asserted* names; others say yes."""
    rows = [cells(chunk.sentences[n]) for chunk, n in table.rows]
    names = {at: content(name) for at, name in enumerate(table.header) if content(name)}
    flags = [at for at, name in names.items() if name <= content(asserted) and all(_is_flag(row, at) for row in rows)]
    if len(flags) != 1:
        return []
    denied = [place for place, row in zip(table.rows, rows, strict=True) if row[flags[0]].lower() in NO]
    asserting = matching_rows(_as_count(asserted), table)
    return denied if len(denied) + len(asserting) == len(rows) else []


def _is_flag(row: Sequence[str], at: int) -> bool:
    return at < len(row) and row[at].lower() in YES | NO


def _as_count(question: str) -> str:
    return ASKS_LIST.sub("how many", question, count=1)


ROWS_ASKED = (
    (ASKS_COUNT, may_count, count_rows),
    (ASKS_EXTREME, may_compare, extreme_rows),
    (ASKS_LIST, may_list, listed_rows),
)
"""Questions for rows of a table: whether a chunk has such rows, and how they are found among those of its document."""
