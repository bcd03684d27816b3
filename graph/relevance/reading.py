"""Choose which sentences of the candidates the reader reads, and interpret its scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from graph.ports import Passage, PassageReader
from graph.state import Chunk, ReadPassage, SubqueryResults

MOST_PASSAGES = 4
"""Passages read for each sub-question, the most promising first, until one answers (``docs/relevance.md``)."""
SENTENCE_WEIGHT, KEYWORD_WEIGHT = 0.5, 0.3
"""Weights of the best sentence's cosine and of BM25 beside the chunk's cosine, in the order of reading."""
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


def promise(chunk: Chunk) -> float:
    """Return how promising *chunk* is to read: the cosines of it and of its best sentence, and its keyword score."""
    best = max(chunk.span_similarities, default=chunk.similarity)
    return nearness(chunk) + SENTENCE_WEIGHT * best + KEYWORD_WEIGHT * chunk.keyword


async def read_best(
    reader: PassageReader, subquery_results: Sequence[SubqueryResults], most: int = MOST_PASSAGES
) -> tuple[SubqueryResults, ...]:
    """Read at most *most* chunks of each of *subquery_results* that are near enough, until one has an answer.

    One has an answer where the reader scores a sentence above "none of them".
    """
    found = []
    for results in subquery_results:
        near = [chunk for chunk in results.chunks if chunk.spans and nearness(chunk) >= LEAST_SIMILARITY]
        read: dict[str, ReadPassage] = {}
        for chunk in sorted(near, key=promise, reverse=True)[:most]:
            start, end = window(chunk)
            (one,) = await reader.read(results.question, [_passage(chunk, start, end)])
            read[chunk.chunk_id] = _padded(one, chunk, start)
            if max(one.sentences, default=one.null) > one.null:
                break
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
