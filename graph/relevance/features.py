"""Measure a question and a chunk: how its sentences match, and the features of the pair."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import NamedTuple

from graph.relevance.reading import nearness, sentence_chances
from graph.state import Chunk, SubqueryResults
from graph.terms import Idf, vocabulary, wanted

HEADING_CREDIT = 0.5
"""Weight of a word that stands in a heading and not in the text below it."""
LARGEST_LOGIT = 12.0
"""Limit of the reader's logits: beyond it a probability does not change."""


class Match(NamedTuple):
    """How one sentence matches a question.

    ``similarity`` is their cosine; the coverages, in [0, 1], are the share of the question's idf found in the sentence
    or title, and in those with the sentence before. ``chance``, in [0, 1], is the reader's probability that this
    sentence is the one that answers; None where the chunk was not read.
    """

    similarity: float
    coverage: float
    context_coverage: float
    chance: float | None = None

    @property
    def plain(self) -> float:
        """Weighted sum of similarity and coverages, in [0, 1]."""
        return 0.4 * self.similarity + 0.3 * self.coverage + 0.3 * self.context_coverage

    @property
    def score(self) -> float:
        """Score by which sentences are ranked: the mean of ``plain`` and the reader's probability."""
        return self.plain if self.chance is None else 0.5 * self.plain + 0.5 * self.chance


class Features(NamedTuple):
    """The features of one (question, chunk) pair; no other candidate counts."""

    chunk_similarity: float  # cosine of question and chunk
    sentence_similarity: float  # best cosine of question and sentence
    keyword: float  # BM25 over the most the question could reach, in [0, 1]
    coverage: float  # share of the question's idf in title and text, and by half in headings
    margin: float  # the reader's best sentence over "none of them", logits; lowest where it was not read
    answerable: float  # the reader's logit that the passage answers; lowest where it was not read


FEATURE_NAMES = Features._fields


@lru_cache(maxsize=64)  # grading and synthesis look at the same results
def measure(results: SubqueryResults, idf: Idf) -> tuple[tuple[Chunk, tuple[Match, ...], Features], ...]:
    """Measure every candidate of *results*, in its order: its sentence matches and its features."""
    question = wanted(results.question, idf)
    coverage = cache(question.coverage)  # most sentences have none of the question's words, or the same ones
    measured = []
    for chunk in results.chunks:
        title = question.entries & vocabulary(chunk.title)
        everything, before = title, frozenset[str]()
        chances = sentence_chances(chunk.read) if chunk.read else (None,) * len(chunk.spans)
        matches = []
        for sentence, similarity, chance in zip(chunk.sentences, chunk.span_similarities, chances, strict=True):
            own = question.entries & vocabulary(sentence)
            everything |= own
            matches.append(Match(similarity, coverage(own | title), coverage(own | title | before), chance))
            before = own
        covered = coverage(everything)
        headings = [question.entries & vocabulary(one) for one in (chunk.chapter, chunk.section) if one]
        covered += HEADING_CREDIT * (coverage(everything.union(*headings)) - covered)
        margin, answerable = _logits(chunk)
        features = Features(
            chunk_similarity=nearness(chunk),
            sentence_similarity=max(chunk.span_similarities, default=chunk.similarity),
            keyword=chunk.keyword,
            coverage=covered,
            margin=margin,
            answerable=answerable,
        )
        measured.append((chunk, tuple(matches), features))
    return tuple(measured)


def _logits(chunk: Chunk) -> tuple[float, float]:
    """Return the reader's two logits for a chunk, within ``LARGEST_LOGIT`` of 0."""
    if chunk.read is None or not chunk.read.sentences:
        return -LARGEST_LOGIT, -LARGEST_LOGIT
    found = max(chunk.read.sentences) - chunk.read.null, chunk.read.answerable
    margin, answerable = (max(-LARGEST_LOGIT, min(LARGEST_LOGIT, one)) for one in found)
    return margin, answerable
