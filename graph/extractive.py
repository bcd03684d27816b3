"""Extractive answers: the one to three sentences that answer, verbatim, and how probable it is that they do."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graph.calibration import Calibration
from graph.relevance import Assessment, assess
from graph.state import Reading
from graph.terms import Idf

MOST_SENTENCES = 3
"""An answer has at most so many sentences."""
WITHIN = 0.85
"""A further sentence must score at least this share of the best one's score."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of an answer: exactly ``chunk.text[start:end]``; ``score`` is how well it matches the question."""

    chunk_id: str
    start: int
    end: int
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class Extract:
    """The sentences that answer one question, in reading order, and the probability in [0, 1] that they do."""

    question: str
    sentences: tuple[Sentence, ...]
    probability: float


def extract(
    readings: Sequence[Reading], idf: Idf, calibration: Calibration, threshold: float = 0.8
) -> tuple[Extract, ...]:
    """The best sentences for each of *readings*, from chunks whose relevance reaches *threshold*.

    A reading without such a chunk has no sentences and probability 0. Gate two is the caller's: keep what reaches
    ``calibration.answer_threshold``.
    """
    return tuple(_answer(reading, assess(reading, idf, calibration), threshold) for reading in readings)


def _answer(reading: Reading, assessed: Iterable[Assessment], threshold: float) -> Extract:
    passed = [a for a in assessed if a.topical >= threshold and a.matches]
    if not passed:
        return Extract(reading.question, (), 0.0)
    best = max(passed, key=lambda a: a.answers)
    sentences = sorted(_sentences(best), key=lambda s: -s.score)
    kept = [s for s in sentences[:MOST_SENTENCES] if s.score >= WITHIN * sentences[0].score]
    return Extract(reading.question, tuple(sorted(kept, key=lambda s: s.start)), best.answers)


def _sentences(assessed: Assessment) -> list[Sentence]:
    chunk = assessed.chunk
    return [
        Sentence(chunk.chunk_id, start, end, chunk.text[start:end], match.score)
        for (start, end), match in zip(chunk.spans, assessed.matches, strict=True)
    ]
