"""What the reader is shown of the candidates, and what follows from its scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from graph.ports import Passage, PassageReader
from graph.state import Chunk, Reading, ReadPassage

MOST_PASSAGES = 3
"""Passages read for each part of a question: those that retrieval ranks first."""
LEAST_SIMILARITY = 0.25
"""Cosine below which a passage is not read: hardly one answers (``docs/relevance.md``)."""


def passage_of(chunk: Chunk) -> Passage:
    """*chunk* as the reader sees it."""
    names = dict.fromkeys(name for name in (chunk.title, chunk.section) if name)
    return Passage(" > ".join(names), tuple(chunk.sentences))


async def read_best(
    reader: PassageReader, readings: Sequence[Reading], most: int = MOST_PASSAGES
) -> tuple[Reading, ...]:
    """Return *readings* with the first *most* chunks of each one read, where they are near enough to be worth it."""
    found = []
    for reading in readings:
        worth = [chunk for chunk in reading.chunks[:most] if chunk.spans and chunk.similarity >= LEAST_SIMILARITY]
        read = await reader.read(reading.question, [passage_of(chunk) for chunk in worth]) if worth else []
        found.append(_with(reading, {c.chunk_id: one for c, one in zip(worth, read, strict=True)}))
    return tuple(found)


def _with(reading: Reading, read: dict[str, ReadPassage]) -> Reading:
    return replace(reading, chunks=tuple([chunk.having(read=read.get(chunk.chunk_id)) for chunk in reading.chunks]))


def sentence_chances(read: ReadPassage) -> tuple[float, ...]:
    """Share of each sentence in [0, 1]: a softmax over the sentences and "none of them"."""
    top = max(read.null, *read.sentences) if read.sentences else read.null
    raised = [math.exp(score - top) for score in read.sentences]
    total = sum(raised) + math.exp(read.null - top)
    return tuple(one / total for one in raised)
