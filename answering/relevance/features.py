"""Read the best candidates, and measure question and chunk: sentence matches and features."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import NamedTuple

from answering.ports import PassageReader
from answering.questions.definitions import defining_sentences, with_definition
from answering.questions.own_name import NAMED, without_own_name
from answering.relevance.cell_lookup import look_up
from answering.relevance.entities import BRIEF, UNREAD, named_gains, of_others
from answering.relevance.later import later_than
from answering.relevance.possible_answers import are_of_kind, is_about_another, possible_answers
from answering.relevance.setting_lookup import look_up_setting
from answering.relevance.things import is_near
from answering.relevance.versions import LABEL, distinct, is_outdated, labels_asked
from answering.text.context import LONGEST_PASSAGE, texts_to_read, window
from answering.text.dates import DATED
from answering.text.terms import coverage, english_idf, idf_shares, vocabulary
from answering.types import About, Chunk, Passage, ReadPassage, SubqueryResults

HEADING_CREDIT = 0.5
"""Weight of a word that stands in a heading and not in the text below it."""
LARGEST_LOGIT = 12.0  # of the reader: beyond it a probability does not change
MAX_PASSAGES, READ_AT_ONCE = 10, 2
"""Passages read for each sub-question, the most promising first, until one answers; and how many of them at once after
the first, which often answers: the reader has a thread for each processor (``docs/relevance.md``)."""
READ_LATER = 2  # passages with a later date than the one that answers that are read as well, for what may have changed
SENTENCE_WEIGHT, KEYWORD_WEIGHT = 0.5, 0.3
"""Weights of the best sentence's cosine and of BM25 beside the chunk's, in the order of reading: of a few tried."""
READ_FIRST, MAX_BEHIND = 3, 0.2
"""Passages that are read until one answers; how much less promising than the best a further one may be to be read."""


async def read_best(
    reader: PassageReader, subquery_results: Sequence[SubqueryResults], most: int = MAX_PASSAGES
) -> tuple[SubqueryResults, ...]:
    """Read at most *most* near chunks of each of *subquery_results*, until one answers.

    One answers where the reader scores a sentence that can answer above "none of them". A chunk that defines the term
    whose meaning is asked for is read first, and its definition counts as the answer, whatever the reader says.
    """
    updated = []
    for results in subquery_results:
        defined = defining_sentences(results)
        waiting = iter(_to_read(results, defined)[:most])
        read: dict[str, Chunk] = {}
        answering: list[Chunk] = []
        while not answering and (batch := tuple(islice(waiting, READ_AT_ONCE if read else 1))):
            chunks = await asyncio.gather(*(_read(reader, results, chunk, defined) for chunk in batch))
            read |= {chunk.chunk_id: chunk for chunk in chunks}
            answering = [c for c in chunks if _answers(c.reading) and not is_outdated(results.question, c)]
        if not answering:
            found = [read.get(c.chunk_id, c) for c in results.chunks]
            answering = await look_up(reader, results.question, found)
            answering = answering or await look_up_setting(reader, results.question, found)
            read |= {chunk.chunk_id: chunk for chunk in answering}
        if answering and any(
            chunk.dated or DATED.search(f"{chunk.headings} {chunk.source}") for chunk in results.chunks
        ):
            unread = [chunk for chunk in results.chunks if chunk.spans and chunk.chunk_id not in read]
            later = later_than(unread, answering)[:READ_LATER]
            chunks = await asyncio.gather(*(_read(reader, results, chunk, defined) for chunk in later))
            read |= {chunk.chunk_id: chunk for chunk in chunks}
        updated.append(replace(results, chunks=tuple(read.get(chunk.chunk_id, chunk) for chunk in results.chunks)))
    return tuple(updated)


def _to_read(results: SubqueryResults, defined: Mapping[str, int]) -> list[Chunk]:
    """Return the near chunks in the order of reading; those far behind the best are left out."""
    question = results.question
    found = [chunk for chunk in results.chunks if chunk.spans]
    near = [chunk for chunk in found if chunk.chunk_id in defined or is_near(question, chunk)]
    others = {chunk.chunk_id for chunk in near if all(of_others(question, chunk))}
    last = others | {chunk.chunk_id for chunk in near if is_outdated(question, chunk)}
    order = sorted(near, key=lambda c: (c.chunk_id not in defined, c.chunk_id in last, -promise(c)))
    if LABEL.search(question):
        order.sort(key=lambda chunk: (chunk.chunk_id not in defined, -labels_asked(question, chunk)))
    least = max(map(promise, near), default=0.0) - MAX_BEHIND
    return [
        chunk
        for n, chunk in enumerate(distinct(question, order, others))
        if n < READ_FIRST or promise(chunk) >= least or About.LOOKED_UP in chunk.about
    ]


def promise(chunk: Chunk) -> float:
    """Return the priority of *chunk* for reading: its cosines and keyword score, weighted."""
    best = max(chunk.span_similarities, default=chunk.similarity)
    return nearness(chunk) + SENTENCE_WEIGHT * best + KEYWORD_WEIGHT * chunk.keyword


def nearness(chunk: Chunk) -> float:
    """Return the cosine of question and chunk; of a long one, its best sentence's if higher."""
    if sum(end - start for start, end in chunk.spans) <= LONGEST_PASSAGE:
        return chunk.similarity
    return max(chunk.similarity, *chunk.span_similarities)


async def _read(reader: PassageReader, results: SubqueryResults, chunk: Chunk, defined: Mapping[str, int]) -> Chunk:
    """Read the sentences of *chunk* around its nearest; those that cannot answer get the lowest score."""
    question, texts = results.question, texts_to_read(chunk)
    start, end = window(chunk, texts)
    asked = without_own_name(question, chunk, results.chunks) if NAMED.search(question) else question
    reading = await reader.read(asked, Passage.of(chunk, texts[start:end]))
    can_answer = possible_answers(question, chunk)
    reading = _possible(question, chunk, reading, start, can_answer)
    reading = with_definition(question, reading, defined.get(chunk.chunk_id))
    return replace(chunk, reading=reading, can_answer=can_answer)


def _possible(
    question: str, chunk: Chunk, reading: ReadPassage, start: int, can_answer: tuple[bool, ...]
) -> ReadPassage:
    """Extend *reading*, from sentence *start* on, to all of *chunk*; others, and what cannot answer, score lowest.

    So do all where only one about another thing answers.
    """
    unread = reading.null - UNREAD
    scores = [unread] * len(chunk.spans)
    scores[start : start + len(reading.sentences)] = reading.sentences
    gain, gains = named_gains(question, chunk)
    reading = replace(reading, answerable=reading.answerable + gain)
    scores = [score + more for score, more in zip(scores, gains, strict=True)]
    possible = are_of_kind(question, replace(chunk, can_answer=can_answer))
    left = tuple(s if can else unread for s, can in zip(scores, possible, strict=True))
    top = scores.index(max(scores))
    if max(left) < reading.null < scores[top] and is_about_another(question, chunk)[top]:  # and nothing else answers
        return replace(reading, sentences=(unread,) * len(left), answerable=-UNREAD)
    return replace(reading, sentences=left)


def _answers(reading: ReadPassage | None) -> bool:
    return reading is not None and max(reading.sentences, default=reading.null) > reading.null


class Match(NamedTuple):
    """How one sentence matches a question.

    ``similarity`` is their cosine; the coverages, in [0, 1], are the share of the question's idf found in the sentence
    or title, and in those with the sentence before. ``probability``, in [0, 1], is the reader's probability that this
    sentence is the one that answers; None where the chunk was not read.
    """

    similarity: float
    coverage: float
    context_coverage: float
    probability: float | None = None

    @property
    def base_score(self) -> float:
        """Weighted sum of similarity and coverages, in [0, 1]."""
        return 0.4 * self.similarity + 0.3 * self.coverage + 0.3 * self.context_coverage

    @property
    def score(self) -> float:
        """Score by which sentences are ranked: the mean of ``base_score`` and the reader's probability."""
        return self.base_score if self.probability is None else 0.5 * self.base_score + 0.5 * self.probability


class Features(NamedTuple):
    """The features of one (question, chunk) pair, independent of others but for where reading stops."""

    chunk_similarity: float  # cosine of question and chunk
    sentence_similarity: float  # best cosine of question and sentence
    keyword: float  # BM25 over the most the question could reach, in [0, 1]
    coverage: float  # share of the question's idf in title and text, and by half in headings
    margin: float  # the reader's best sentence over "none of them", logits; lowest where it was not read
    answerable: float  # the reader's logit that the passage answers; lowest where it was not read
    headed: float  # 1 for a chunk below a heading, 0 for one that its title alone names
    brief_keyword: float  # `keyword` of a question of at most ``BRIEF`` content words, 0 of a longer one


FEATURE_NAMES = Features._fields


def measure(results: SubqueryResults) -> tuple[tuple[Chunk, tuple[Match, ...], Features], ...]:
    """Measure every candidate of *results*, in its order: its sentence matches and its features."""
    shares = idf_shares(results.question, english_idf)
    measured = []
    for chunk in results.chunks:
        title, reading = vocabulary(chunk.title), chunk.reading
        everything, before = title, frozenset[str]()
        probabilities = reading.probabilities if reading else (None,) * len(chunk.spans)
        matches = []
        rows = zip(chunk.sentences, chunk.span_similarities, probabilities, strict=True)
        for sentence, similarity, probability in rows:
            terms = vocabulary(sentence)
            everything |= terms
            own, context = terms | title, terms | title | before
            matches.append(Match(similarity, coverage(shares, own), coverage(shares, context), probability))
            before = terms
        covered = coverage(shares, everything)
        headings = [vocabulary(heading) for heading in (chunk.chapter, chunk.section) if heading]
        covered += HEADING_CREDIT * (coverage(shares, everything.union(*headings)) - covered)
        logits = (-LARGEST_LOGIT, -LARGEST_LOGIT)
        if reading:
            logits = (max(reading.sentences) - reading.null, reading.answerable)
        margin, answerable = (max(-LARGEST_LOGIT, min(LARGEST_LOGIT, logit)) for logit in logits)
        features = Features(
            chunk_similarity=nearness(chunk),
            sentence_similarity=max(chunk.span_similarities, default=chunk.similarity),
            keyword=chunk.keyword,
            coverage=covered,
            margin=margin,
            answerable=answerable,
            headed=float(bool(headings)),
            brief_keyword=chunk.keyword if len(shares) <= BRIEF else 0.0,
        )
        measured.append((chunk, tuple(matches), features))
    return tuple(measured)
