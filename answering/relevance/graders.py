"""Assess how surely a chunk is about a question, and how probably it answers, by fitted models; grade by them."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pydantic import TypeAdapter

from answering.relevance.entities import of_others
from answering.relevance.features import measure
from answering.relevance.possible_answers import names_another
from answering.types import Chunk, Question, SubqueryResults

LEXICAL = "lexical"
"""The entry for embedding models without a calibration: it uses words alone."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic regression over named features."""

    bias: float
    weights: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """Return the logistic function of bias + Σ weight · feature, in [0, 1]."""
        z = self.bias + sum(weight * features[name] for name, weight in self.weights.items())
        return 0.5 + 0.5 * math.tanh(z / 2.0)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The models fitted for one embedding model.

    ``relevance`` scores how surely a chunk is about what is asked, ``answers`` is the probability that it answers;
    ``…_read`` are for chunks that the reader has read. ``cosine`` is Platt scaling of the raw cosine,
    for ``RERANKER=none``.
    """

    relevance: Logistic
    relevance_read: Logistic
    answers: Logistic
    answers_read: Logistic
    cosine: Logistic


def load_calibrations() -> dict[str, Calibration]:
    """Load the packaged calibrations, by embedding model."""
    stored = json.loads(Path(__file__).with_name("relevance_model.json").read_bytes())
    return TypeAdapter(dict[str, Calibration]).validate_python(stored["models"])


def calibration_for(embedding_model: str, calibrations: Mapping[str, Calibration]) -> Calibration:
    """Return the calibration of *embedding_model*; of an unknown one, the entry that uses words alone."""
    return calibrations.get(embedding_model) or calibrations[LEXICAL]


OTHER_LABEL_FACTOR = 0.3
"""Share of its probability to answer that a chunk keeps where it, or its best sentence, names another year or label.

Too little for the usual bar. Not fitted: hardly a question of the fitted sets asks for another year."""


def best_first(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Keep each chunk once, with its highest relevance, highest first; the scores of sentences are a sub-question's."""
    best: dict[str, Chunk] = {}
    for chunk in sorted(chunks, key=lambda chunk: -(chunk.relevance or 0.0)):
        best.setdefault(chunk.chunk_id, replace(chunk, scores=(), base_scores=()))
    return list(best.values())


def assess(results: SubqueryResults, calibration: Calibration) -> SubqueryResults:
    """Set ``scores``, ``relevance`` and ``answers`` of every candidate of *results*, for its question."""
    assessed = []
    for chunk, matches, features in measure(results):
        named = features._asdict()
        full_text = "\n".join(filter(None, (chunk.title, chunk.section, chunk.text)))
        scores = tuple(match.score for match in matches)
        number = max(range(len(scores)), key=lambda n: scores[n], default=None)
        best = "" if number is None else chunk.sentences[number]
        of_another = number is not None and of_others(results.question, chunk)[number]
        of_another = of_another or any(names_another(results.question, text) for text in (full_text, best))
        factor = OTHER_LABEL_FACTOR if of_another else 1.0
        # In other words than the question, a passage is far from it by every cosine: it may answer yet.
        if chunk.reading:
            answers = calibration.answers_read.probability(named)
            relevance = 1.0 - (1.0 - calibration.relevance_read.probability(named)) * (1.0 - answers)
        else:
            answers, relevance = calibration.answers.probability(named), calibration.relevance.probability(named)
        base_scores = tuple(match.base_score for match in matches)
        measured = replace(chunk, scores=scores, base_scores=base_scores)
        assessed.append(replace(measured, relevance=relevance, answers=answers * factor))
    return replace(results, chunks=tuple(assessed))


def grade(assessed: Sequence[SubqueryResults]) -> list[Chunk]:
    """Return every assessed candidate once, ordered by the mean of relevance and the probability to answer.

    ``relevance`` in [0, 1] scores how surely the chunk is about the question, or any sub-question; .8 is the bar.
    """
    best = best_first([chunk for results in assessed for chunk in results.chunks])
    return sorted(best, key=lambda chunk: -((chunk.relevance or 0.0) + (chunk.answers or 0.0)))


class LocalGrader:
    """``RERANKER=local``: what ``assess`` found, by similarities, words and the reader."""

    async def grade(self, question: Question, assessed: Sequence[SubqueryResults]) -> list[Chunk]:
        """Return every candidate once with its relevance, best first."""
        return grade(assessed)


class CosineGrader:
    """``RERANKER=none``: the calibrated cosine alone."""

    def __init__(self, calibration: Calibration) -> None:
        self._cosine = calibration.cosine

    async def grade(self, question: Question, assessed: Sequence[SubqueryResults]) -> list[Chunk]:
        """Return every candidate once with its relevance, best first; ``answers`` is not known."""
        chunks = [chunk for results in assessed for chunk in results.chunks]
        relevance = [self._cosine.probability({"chunk_similarity": chunk.similarity}) for chunk in chunks]
        return best_first([replace(c, relevance=r, answers=None) for c, r in zip(chunks, relevance, strict=True)])
