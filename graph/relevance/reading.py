"""What the reader is shown of the candidates, and what follows from its scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from graph.ports import Passage, PassageReader
from graph.state import Chunk, ReadPassage, SubqueryResults

MOST_PASSAGES = 3
"""Passages read for each part of a question: those that retrieval ranks first."""
LONGEST_PASSAGE = 900
"""Characters of a chunk that are read: about the 224 word pieces that the reader takes, at 4.2 to 4.6 a piece."""
UNREAD = 20.0
"""How far below "none of them" the logit of a sentence is that was not read."""
LEAST_SIMILARITY = 0.25
"""Cosine below which a passage is not read: hardly one answers (``docs/relevance.md``)."""


def passage_of(chunk: Chunk, start: int = 0, end: int | None = None) -> Passage:
    """The sentences *start* to *end* of *chunk* as the reader sees them."""
    names = dict.fromkeys(name for name in (chunk.title, chunk.section) if name)
    return Passage(" > ".join(names), tuple(chunk.text[begin:stop] for begin, stop in chunk.spans[start:end]))


def window(chunk: Chunk) -> tuple[int, int]:
    """Which sentences of *chunk* are read: all, or of a long one those around the sentence nearest to the question."""
    lengths = [end - start for start, end in chunk.spans]
    if sum(lengths) <= LONGEST_PASSAGE:
        return 0, len(lengths)
    start = max(range(len(lengths)), key=lambda at: chunk.span_similarities[at])
    end, total = start + 1, lengths[start]
    while True:
        grown = False
        if start > 0 and total + lengths[start - 1] <= LONGEST_PASSAGE:
            start, total, grown = start - 1, total + lengths[start - 1], True
        if end < len(lengths) and total + lengths[end] <= LONGEST_PASSAGE:
            end, total, grown = end + 1, total + lengths[end], True
        if not grown:
            return start, end


def nearness(chunk: Chunk) -> float:
    """The cosine of question and chunk; of one too long to be embedded, its best sentence's if higher."""
    if sum(end - start for start, end in chunk.spans) <= LONGEST_PASSAGE:
        return chunk.similarity
    return max(chunk.similarity, *chunk.span_similarities)


def _placed(read: ReadPassage, start: int, count: int) -> ReadPassage:
    """*read*, of the sentences from *start* on, as one of all *count*; those that were not read are far from likely."""
    unread = read.null - UNREAD
    after = count - start - len(read.sentences)
    return replace(read, sentences=(unread,) * start + read.sentences + (unread,) * after)


async def read_best(
    reader: PassageReader, subquery_results: Sequence[SubqueryResults], most: int = MOST_PASSAGES
) -> tuple[SubqueryResults, ...]:
    """Return *readings* with the first *most* chunks of each one read, where they are near enough to be worth it."""
    found = []
    for reading in subquery_results:
        worth = [chunk for chunk in reading.chunks[:most] if chunk.spans and nearness(chunk) >= LEAST_SIMILARITY]
        windows = [window(chunk) for chunk in worth]
        passages = [passage_of(chunk, *one) for chunk, one in zip(worth, windows, strict=True)]
        read = await reader.read(reading.question, passages) if worth else []
        whole = [_placed(one, at, len(c.spans)) for c, one, (at, _) in zip(worth, read, windows, strict=True)]
        found.append(_with(reading, {c.chunk_id: one for c, one in zip(worth, whole, strict=True)}))
    return tuple(found)


def _with(reading: SubqueryResults, read: dict[str, ReadPassage]) -> SubqueryResults:
    return replace(reading, chunks=tuple([chunk.having(read=read.get(chunk.chunk_id)) for chunk in reading.chunks]))


def sentence_chances(read: ReadPassage) -> tuple[float, ...]:
    """Share of each sentence in [0, 1]: a softmax over the sentences and "none of them"."""
    top = max(read.null, *read.sentences) if read.sentences else read.null
    raised = [math.exp(score - top) for score in read.sentences]
    total = sum(raised) + math.exp(read.null - top)
    return tuple(one / total for one in raised)
