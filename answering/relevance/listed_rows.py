"""Find the rows of a table that a question asks for by a value: "Which products contain egg?", of yes and no.

They are those that a count would count (``counted_rows``): certain, or none.
"""

import re
from collections.abc import Sequence

from answering.relevance.counted_rows import ASKS_COUNT, count_rows, may_count
from answering.relevance.extremes import ASKS_EXTREME, extreme_rows, may_compare
from answering.text.terms import AUXILIARIES
from answering.types import Chunk, FoundSentences

ASKS_LIST = re.compile(
    r"\A\W*(?:(?:please )?(?:list|name|show)(?: me)?(?: all)?|which|what)\b(?: of)?(?: the)?"
    rf"(?= (?!(?:{'|'.join(AUXILIARIES)}|happens?)\b)\w+ )",
    re.IGNORECASE,
)
"""A question that the functions here are for."""
MAX_LISTED = 12
"""Most rows that are shown, as of a list in an answer."""


def listed_rows(question: str, chunks: Sequence[Chunk]) -> tuple[FoundSentences, ...]:
    """Return the rows of *chunks*, all of one document, that *question* asks for; () where they are not certain."""
    rows = count_rows(_as_count(question), chunks)
    return rows if sum(len(found.numbers) for found in rows) <= MAX_LISTED else ()


def may_list(question: str, chunk: Chunk) -> bool:
    """Whether *chunk* alone has rows that *question* asks for."""
    return may_count(_as_count(question), chunk)


def _as_count(question: str) -> str:
    return ASKS_LIST.sub("how many", question, count=1)


ROWS_ASKED = (
    (ASKS_COUNT, may_count, count_rows),
    (ASKS_EXTREME, may_compare, extreme_rows),
    (ASKS_LIST, may_list, listed_rows),
)
"""Questions for rows of a table: whether a chunk has such rows, and how they are found among those of its document."""
