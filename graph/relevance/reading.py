"""Choose which sentences of the candidates the reader reads, and interpret its scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from graph.ports import Passage, PassageReader
from graph.state import Chunk, ReadPassage, SubqueryResults

MOST_PASSAGES = 3
"""Passages read for each sub-question: those that retrieval ranks first."""
LONGEST_PASSAGE = 900
"""Characters of a chunk that are read: about the 224 word pieces that the reader takes."""
UNREAD = 20.0
"""Distance of an unread sentence's logit below "none of them"."""
LEAST_SIMILARITY = 0.25
"""Cosine below which a passage is not read: hardly one answers (``docs/relevance.md``)."""


def window(chunk: Chunk) -> tuple[int, int]:
    """Choose the sentences of *chunk* that are read: all, or those around the one nearest to the question."""
    lengths = [end - start for start, end in chunk.spans]
    if sum(lengths) <= LONGEST_PASSAGE:
        return 0, len(lengths)
    start = max(range(len(lengths)), key=lambda at: chunk.span_similarities[at])
    end, total = start + 1, lengths[start]
    grown = True
    while grown:
        grown = False
        if start > 0 and total + lengths[start - 1] <= LONGEST_PASSAGE:
            start, total, grown = start - 1, total + lengths[start - 1], True
        if end < len(lengths) and total + lengths[end] <= LONGEST_PASSAGE:
            end, total, grown = end + 1, total + lengths[end], True
    return start, end


def nearness(chunk: Chunk) -> float:
    """Return the cosine of question and chunk; of one too long to be embedded, its best sentence's if higher."""
    if sum(end - start for start, end in chunk.spans) <= LONGEST_PASSAGE:
        return chunk.similarity
    return max(chunk.similarity, *chunk.span_similarities)


async def read_best(
    reader: PassageReader, subquery_results: Sequence[SubqueryResults], most: int = MOST_PASSAGES
) -> tuple[SubqueryResults, ...]:
    """Read the first *most* chunks of each of *subquery_results*, where they are near enough to the question."""
    found = []
    for results in subquery_results:
        near = [chunk for chunk in results.chunks[:most] if chunk.spans and nearness(chunk) >= LEAST_SIMILARITY]
        windows = [window(chunk) for chunk in near]
        passages = [_passage(chunk, *span) for chunk, span in zip(near, windows, strict=True)]
        answers = await reader.read(results.question, passages) if near else []
        read = {c.chunk_id: _padded(one, c, at) for c, one, (at, _) in zip(near, answers, windows, strict=True)}
        chunks = tuple(replace(chunk, read=read.get(chunk.chunk_id)) for chunk in results.chunks)
        found.append(replace(results, chunks=chunks))
    return tuple(found)


def _passage(chunk: Chunk, start: int, end: int) -> Passage:
    names = dict.fromkeys(name for name in (chunk.title, chunk.section) if name)
    return Passage(" > ".join(names), tuple(chunk.sentences[start:end]))


def _padded(read: ReadPassage, chunk: Chunk, start: int) -> ReadPassage:
    """Extend *read*, of the sentences from *start* on, to all of *chunk*; unread ones are very unlikely."""
    unread = read.null - UNREAD
    after = len(chunk.spans) - start - len(read.sentences)
    return replace(read, sentences=(unread,) * start + read.sentences + (unread,) * after)


def sentence_chances(read: ReadPassage) -> tuple[float, ...]:
    """Return each sentence's probability in [0, 1]: a softmax over the sentences and "none of them"."""
    top = max(read.null, *read.sentences) if read.sentences else read.null
    raised = [math.exp(score - top) for score in read.sentences]
    total = sum(raised) + math.exp(read.null - top)
    return tuple(one / total for one in raised)
