"""Find the row that a question looks up by its first cell: "Maximum pressure | 3 bar"."""

import re

from answering.relevance.named_things import content
from answering.text.blocks import cells, filled_columns
from answering.types import Chunk

_ASKS_OTHERWISE = re.compile(
    r"\W*(?:(?:and |so )?(?:where|when|who\w*|why)|how (?:do|does|did|can|could|to|should|is|are))\b", re.IGNORECASE
)
"""A question for a place, a person or a way, of which a row that has only the name of a thing says nothing."""


def is_entry(question: str, chunk: Chunk, n: int) -> bool:
    """Whether row *n* of *chunk* has the name that *question* asks for in its first cell.

    All of the question's other words stand in the headings above the table or in the names of its columns.
    """
    key, asked = content(cells(chunk.sentences[n])[0]), content(question)
    around = content(f"{chunk.headings} {filled_columns(chunk, n)}")
    return bool(key) and key <= asked <= key | around and not _ASKS_OTHERWISE.match(question)
