"""Read the sentence that would answer once more, alone: how probably it is right."""

import re
from collections.abc import Sequence
from math import log1p

from answering.ports import PassageReader
from answering.questions.own_name import NAMED, without_own_name
from answering.relevance.graders import OTHER_LABEL_FACTOR, Logistic, logit
from answering.relevance.possible_answers import are_of_kind
from answering.relevance.rivals import is_of_rival
from answering.text.blocks import is_row
from answering.text.context import antecedents, texts_to_read
from answering.types import Chunk, Passage

READ_TWICE = Logistic(1.25, {"answers": 0.36, "alone": 0.36, "nearer": -1.0})
"""How probably a passage answers, by three features (``docs/relevance.md``, "A second reading").

``answers``: the logit of that when it was first read. ``alone``: the margin of its best sentence, read by itself.
``nearer``: ln(1 + n) for the n passages that are nearer. The more are read, the more easily one seems to answer.
"""
MIN_READ_AGAIN = 0.3
"""A passage that answers no more probably than that is not read again: it is declined."""
_ASKS_SEVERAL = re.compile(r"\A\W*(?:list|name|show|(?:which|what) (?:of the )?(?!does)\w{2,}[^\Ws]s)\b", re.IGNORECASE)
"""A question for several things: "Which items …", "List …"."""
LARGEST_MARGIN = 12.0
"""Limit of the margin: beyond it a probability does not change."""


async def read_again(
    reader: PassageReader, question: str, chunk: Chunk, chunks: Sequence[Chunk], *, answers: float, nearer: int
) -> float:
    """Return how probably the best sentence of *chunk* is right, in [0, 1], which *answers* was when it was first read.

    It is read alone, but for what its pronoun refers to. Of one that names a rival of what is asked for little is left,
    unless it holds of that, too; of any where the question has a name that is in none of *chunks*; and of a row that
    does not answer. *nearer*: how many passages are nearer. Raises ``ReadingFailed``.
    """
    of_kind = are_of_kind(question, chunk)
    best = max(range(len(of_kind)), key=lambda n: (of_kind[n], chunk.scores[n]))
    alone = Passage.of(chunk, [*antecedents(chunk, best), texts_to_read(chunk)[best]])
    asked = without_own_name(question, chunk, chunks) if NAMED.search(question) else question
    reading = await reader.read(asked, alone)
    margin = max(-LARGEST_MARGIN, min(LARGEST_MARGIN, reading.sentences[-1] - reading.null))
    probability = READ_TWICE.probability({"answers": logit(answers), "alone": margin, "nearer": log1p(nearer)})
    refuted = await is_of_rival(reader, question, chunk, best, chunks) or _is_any_row(question, chunk, best)
    return probability * OTHER_LABEL_FACTOR if refuted else probability


def _is_any_row(question: str, chunk: Chunk, n: int) -> bool:
    """Whether sentence *n* is a row that does not answer by the reader, of a table of which *question* asks for some.

    The table answers "Which items are sold out?", and so the first of its rows does, which is in stock.
    """
    refused = chunk.reading is not None and chunk.reading.sentences[n] < chunk.reading.null
    return refused and is_row(chunk, n) and bool(_ASKS_SEVERAL.search(question))
