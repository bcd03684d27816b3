"""Tell whether a sentence has the rare words of a question that the documents have: "How often is the blower changed?".

"Ours are changed every 18 months" is about something else, where another passage speaks of the blower.
"""

import re
from collections.abc import Sequence

from answering.text.blocks import before
from answering.text.terms import coverage, frequency_rank, question_stems, vocabulary
from answering.types import Chunk

_MANNER = re.compile(r"\bby default\b", re.IGNORECASE)
KEY_RANK = 3_000
"""Frequency rank from which a stem of English says what a question is about."""
KEY_MISSING_FACTOR = 0.65
"""Share of its probability to answer that a chunk keeps where its best sentence lacks such a word.

Chosen of five with ``KEY_RANK`` on 985 questions of 18 collections: ``docs/relevance.md``."""


def key_words(question: str, chunks: Sequence[Chunk]) -> tuple[str, ...]:
    """Return the rare stems of *question* that one of *chunks* has; others may be said in other words."""
    rare = [
        stem for stem in dict.fromkeys(question_stems(_MANNER.sub("", question))) if frequency_rank(stem) > KEY_RANK
    ]
    texts = [f"{chunk.headings}\n{chunk.text}".lower() for chunk in chunks] if rare else []
    return tuple(stem for stem in rare if any(stem in text for text in texts))


def lacks_key_word(keys: Sequence[str], chunk: Chunk, n: int) -> bool:
    """Whether sentence *n* of *chunk*, what is before it in its paragraph, and its headings lack one of *keys*."""
    if not keys:
        return False
    first = next((at for at in range(n, 0, -1) if "\n\n" in before(chunk, at)), 0)
    if first and chunk.sentences[first - 1].endswith(":"):
        first -= 1  # its lead-in
    said = vocabulary("\n".join([chunk.headings, *chunk.sentences[first : n + 1]]))
    return any(not coverage({key: 1.0}, said) for key in keys)
