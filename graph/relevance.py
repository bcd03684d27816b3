"""How probable it is that a chunk is about a question, and that it answers it: features and calibrated model."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from graph.calibration import Calibration
from graph.state import Chunk
from graph.terms import Idf, coverage, question_stems, stems


@dataclass(frozen=True, slots=True)
class Reading:
    """One question, or one part of a compound one, and its candidates with the similarities measured for it."""

    question: str
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Features:
    """What the calibrated models see of one (question, chunk) pair. All lie in [0, 1] but for cosines and the gap."""

    chunk_similarity: float  # cosine of question and chunk
    sentence_similarity: float  # best cosine of question and sentence
    coverage: float  # idf share of the question found in title or text
    sentence_coverage: float  # the same, in the best single sentence or the title
    beyond_title: float  # idf share of the question that is NOT in the title
    rank: float  # 1 / (1 + higher ranked candidates that are not twins)
    gap: float  # lead of its best sentence over those of the candidates that are not twins

    def __getitem__(self, name: str) -> float:
        value: float = getattr(self, name)
        return value


FEATURE_NAMES = tuple(field.name for field in fields(Features))


@dataclass(frozen=True, slots=True)
class SentenceMatch:
    """How a sentence matches a question: cosine, coverage by itself or the title, and with what stands before it."""

    similarity: float
    coverage: float
    context_coverage: float

    @property
    def strength(self) -> float:
        """Half cosine, half coverage."""
        return 0.5 * self.similarity + 0.5 * self.coverage

    @property
    def score(self) -> float:
        """What orders the sentences of an answer; a plain sum did better than learned weights."""
        return 0.4 * self.similarity + 0.3 * self.coverage + 0.3 * self.context_coverage


@dataclass(frozen=True, slots=True)
class Assessment:
    """One candidate of a reading, what was measured of it, and its two probabilities."""

    chunk: Chunk
    features: Features
    matches: tuple[SentenceMatch, ...]
    topical: float
    answers: float


def assess(reading: Reading, idf: Idf, calibration: Calibration) -> tuple[Assessment, ...]:
    """Every candidate of *reading*, in its order, with both calibrated probabilities."""
    matches = [_matches(reading.question, chunk, idf) for chunk in reading.chunks]
    measured = _features(reading, matches, idf)
    return tuple(
        Assessment(
            chunk=chunk,
            features=features,
            matches=found,
            topical=calibration.topical.probability(features),
            answers=calibration.answers.probability(features),
        )
        for chunk, found, features in zip(reading.chunks, matches, measured, strict=True)
    )


def grade(readings: Sequence[Reading], idf: Idf, calibration: Calibration) -> tuple[Chunk, ...]:
    """Every candidate once with its ``relevance``, best first.

    ``relevance`` is the calibrated probability in [0, 1] that the chunk is about what the question asks; of a
    compound question, about that part which it is most about.
    """
    best: dict[str, Chunk] = {}
    for reading in readings:
        for assessed in assess(reading, idf, calibration):
            known = best.get(assessed.chunk.chunk_id)
            if known is None or (known.relevance or 0.0) < assessed.topical:
                best[assessed.chunk.chunk_id] = replace(assessed.chunk, relevance=assessed.topical)
    return tuple(sorted(best.values(), key=lambda chunk: -(chunk.relevance or 0.0)))


def fused(chunk: Chunk) -> float:
    """The hybrid retrieval score: the mean of cosine and normalised BM25."""
    return 0.5 * chunk.similarity + 0.5 * chunk.keyword


def _matches(question: str, chunk: Chunk, idf: Idf) -> tuple[SentenceMatch, ...]:
    wanted = question_stems(question)
    title = frozenset(stems(chunk.title))
    before: frozenset[str] = frozenset()
    found = []
    for (start, end), similarity in zip(chunk.spans, chunk.span_similarities, strict=True):
        own = frozenset(stems(chunk.text[start:end]))
        found.append(
            SentenceMatch(
                similarity=similarity,
                coverage=max(coverage(wanted, own, idf), coverage(wanted, title, idf)),
                context_coverage=coverage(wanted, own | before | title, idf),
            )
        )
        before = own
    return tuple(found)


def _features(reading: Reading, matches: Sequence[Sequence[SentenceMatch]], idf: Idf) -> list[Features]:
    wanted = question_stems(reading.question)
    leads = [max((m.strength for m in found), default=0.0) for found in matches]
    result = []
    for number, (chunk, found) in enumerate(zip(reading.chunks, matches, strict=True)):
        title = frozenset(stems(chunk.title))
        rivals = [
            other
            for other, rival in enumerate(reading.chunks)
            if other != number and rival.chunk_id not in chunk.twins and rival.chunk_id != chunk.chunk_id
        ]
        above = sum(fused(reading.chunks[other]) > fused(chunk) for other in rivals)
        result.append(
            Features(
                chunk_similarity=chunk.similarity,
                sentence_similarity=max((m.similarity for m in found), default=chunk.similarity),
                coverage=coverage(wanted, title.union(stems(chunk.text)), idf),
                sentence_coverage=max((m.coverage for m in found), default=0.0),
                beyond_title=1.0 - coverage(wanted, title, idf),
                rank=1.0 / (1 + above),
                gap=leads[number] - max((leads[other] for other in rivals), default=0.0),
            )
        )
    return result
