"""What is measured of a question and a chunk: how its sentences match, and the features of their pair."""

import math
from collections.abc import Callable, Collection, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from graph.relevance.definitions import Definition, defined
from graph.relevance.spelling import mended
from graph.state import Chunk, Reading
from graph.terms import Idf, Wanted, asks, vocabulary, wanted

LARGEST_GAP = 0.2
"""A larger lead says no more than this one: in a small collection anything nearest is far ahead."""
MOST_READ = 10_000
"""Misspelt words are looked for among the sentences that begin within so many characters of a chunk; none that was cut
here is as long."""
HEADING_CREDIT = 0.5
"""What a word counts for that stands in a heading and not in the text below it, against 1 for a word of the text. Not
fitted, for the fitted sets have no headings: see "On other documents" in ``docs/relevance.md``."""
LEAST_REST = 0.05
"""Where the title lacks no more of the question's idf than this, it lacks nothing."""


class Match(NamedTuple):
    """How one sentence matches a question.

    ``similarity`` is their cosine; the coverages, in [0, 1], are the share of the question's idf found in the
    sentence or title, and in those with the sentence before. ``defines``, in [0, 1], is how well the sentence's subject
    is what the question asks to be defined.
    """

    similarity: float
    coverage: float
    context_coverage: float
    defines: float = 0.0

    @property
    def strength(self) -> float:
        """Half cosine, half coverage: what the leads of sentences are measured in."""
        return 0.5 * self.similarity + 0.5 * self.coverage

    @property
    def score(self) -> float:
        """What orders the sentences of an answer; a plain sum did no worse than fitted weights.

        A sentence that defines what is asked goes half the way to 1.
        """
        plain = 0.4 * self.similarity + 0.3 * self.coverage + 0.3 * self.context_coverage
        return plain + 0.5 * self.defines * (1.0 - plain)


class Features(NamedTuple):
    """What the calibrated models see of one (question, chunk) pair. Twins of a chunk are never its rivals."""

    chunk_similarity: float  # cosine of question and chunk
    sentence_similarity: float  # best cosine of question and sentence
    coverage: float  # share of the question's idf in title and text, and by half in headings
    rest: float  # the same of what the title lacks, 0 where it lacks nothing; at least ``defines``
    rank: float  # 1 / (1 + rivals that retrieval ranks higher)
    chunk_gap: float  # half cosine, half coverage of the chunk, less that of the best rival; at most LARGEST_GAP
    sentence_gap: float  # strength of its best sentence, less that of the best rival's; at most LARGEST_GAP
    defines: float  # how well a sentence's subject is what the question asks to be defined, in [0, 1]
    asks: float  # 1 when the question has the form of one, else 0


FEATURE_NAMES = Features._fields


def fused(chunk: Chunk) -> float:
    """The hybrid retrieval score: the mean of cosine and normalised BM25."""
    return 0.5 * chunk.similarity + 0.5 * chunk.keyword


class _Lead(NamedTuple):
    """How one chunk stands, before it is compared with the others."""

    title_coverage: float
    coverage: float
    sentence_similarity: float
    chunk_strength: float
    sentence_strength: float
    defines: float


@lru_cache(maxsize=64)  # grading and synthesis look at the same readings
def measure(reading: Reading, idf: Idf) -> tuple[tuple[Chunk, tuple[Match, ...], Features], ...]:
    """Features and sentence matches of every candidate of *reading*, in its order."""
    question = mended(wanted(reading.question, idf), lambda: _held(reading.chunks))
    coverage = cache(question.coverage)  # most sentences hold none of the question's words, or the same ones
    asked = float(asks(reading.question))
    definition = defined(reading.question, idf)
    found = [_match(question, coverage, definition, chunk) for chunk in reading.chunks]
    ids = [chunk.chunk_id for chunk in reading.chunks]
    ranks = _ordered([fused(chunk) for chunk in reading.chunks], ids)
    strengths = _ordered([lead.chunk_strength for _, lead in found], ids)
    best = _ordered([lead.sentence_strength for _, lead in found], ids)
    measured = []
    for chunk, (matches, lead) in zip(reading.chunks, found, strict=True):
        no_rivals = {chunk.chunk_id, *chunk.twins}
        features = Features(
            chunk_similarity=chunk.similarity,
            sentence_similarity=lead.sentence_similarity,
            coverage=lead.coverage,
            rest=max(_rest(lead), lead.defines),
            rank=1.0 / (1 + _higher(fused(chunk), ranks, no_rivals)),
            chunk_gap=_gap(lead.chunk_strength, strengths, no_rivals),
            sentence_gap=_gap(lead.sentence_strength, best, no_rivals),
            defines=lead.defines,
            asks=asked,
        )
        measured.append((chunk, matches, features))
    return tuple(measured)


def _held(chunks: Sequence[Chunk]) -> frozenset[str]:
    """The vocabulary of the beginnings of *chunks*, their titles and headings."""
    held: set[str] = set()
    for chunk in chunks:
        begun = sum(start < MOST_READ for start, _ in chunk.spans)
        for text in (chunk.title, chunk.chapter, chunk.section, *chunk.sentences[:begun]):
            held |= vocabulary(text or "")
    return frozenset(held)


_Ordered = Sequence[tuple[float, str]]
"""A value of every chunk and the chunk's id, highest first."""


def _ordered(values: Sequence[float], ids: Sequence[str]) -> _Ordered:
    return sorted(zip(values, ids, strict=True), reverse=True)


def _gap(strength: float, ordered: _Ordered, no_rivals: Collection[str]) -> float:
    """How far *strength* is ahead of the best rival's, which comes first in *ordered*; at most ``LARGEST_GAP``."""
    for value, owner in ordered:
        if owner not in no_rivals:
            return min(LARGEST_GAP, strength - value)
    return min(LARGEST_GAP, strength)


def _higher(rank: float, ordered: _Ordered, no_rivals: Collection[str]) -> int:
    """How many rivals rank higher."""
    count = 0
    for value, owner in ordered:
        if value <= rank:
            break
        count += owner not in no_rivals
    return count


def _rest(lead: _Lead) -> float:
    """Of the question's idf that the title lacks, the share that the chunk has."""
    lacking = 1.0 - lead.title_coverage
    return (lead.coverage - lead.title_coverage) / lacking if lacking > LEAST_REST else 0.0


def _match(
    question: Wanted, coverage: Callable[[frozenset[str]], float], definition: Definition, chunk: Chunk
) -> tuple[tuple[Match, ...], _Lead]:
    """The matches of the sentences of *chunk*, and how the chunk stands."""
    title = question.entries & vocabulary(chunk.title)
    title_coverage = coverage(title)
    everything = title
    before: frozenset[str] = frozenset()
    matches = []
    best_strength = -math.inf
    sentences = chunk.sentences
    defines = definition.shares(sentences)
    for sentence, similarity, share in zip(sentences, chunk.span_similarities, defines, strict=True):
        own = question.entries & vocabulary(sentence)
        near, covered = title, title_coverage
        if own:  # most sentences hold none of the question's words
            near = own | title
            covered = coverage(near)
            everything |= own
        matches.append(Match(similarity, covered, coverage(near | before) if before else covered, share))
        best_strength = max(best_strength, matches[-1].strength)
        before = own
    covered = coverage(everything)
    if headings := [question.entries & vocabulary(one) for one in (chunk.chapter, chunk.section) if one]:
        covered += HEADING_CREDIT * (coverage(everything.union(*headings)) - covered)
    lead = _Lead(
        title_coverage=title_coverage,
        coverage=covered,
        sentence_similarity=max(chunk.span_similarities, default=chunk.similarity),
        chunk_strength=0.5 * chunk.similarity + 0.5 * covered,
        sentence_strength=best_strength if matches else 0.0,
        defines=max(defines, default=0.0),
    )
    return tuple(matches), lead
