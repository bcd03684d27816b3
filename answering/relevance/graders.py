"""Assess how surely a chunk is about a question, and how probably it answers, by fitted models; grade by them.

``extractive_confidence`` and ``model_confidence`` say how probably an answer is right.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import NamedTuple

from pydantic import TypeAdapter

from answering.questions.definitions import KEY_MISSING_FACTOR, key_words, lacks_key_word
from answering.relevance.features import measure
from answering.relevance.possible_answers import are_of_kind
from answering.relevance.things import is_about_other_things
from answering.types import Chunk, Citation, Question, SubqueryResults

LEXICAL = "lexical"
"""The entry for embedding models without a calibration: it uses words alone."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic regression over named features."""

    bias: float
    weights: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """Return the logistic function of bias + Σ weight · feature, in [0, 1]."""
        return logistic(self.bias + sum(weight * features[name] for name, weight in self.weights.items()))


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
"""Share of its probability to answer that a chunk keeps where it, or its best sentence, is about another thing: names
another year, label or name, or lacks a thing that the question names and the passage speaks of elsewhere.

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
    keys = key_words(results.question, results.chunks)
    for chunk, matches, features in measure(results):
        named = features._asdict()
        scores = tuple(match.score for match in matches)
        of_kind = are_of_kind(results.question, chunk)
        number = max(range(len(scores)), key=lambda n: (of_kind[n], scores[n]), default=None)
        none_of_kind = number is not None and not any(of_kind)
        of_another = none_of_kind or is_about_other_things(results.question, chunk, number)
        factor = OTHER_LABEL_FACTOR if of_another else 1.0
        if number is not None and lacks_key_word(keys, chunk, number):
            factor *= KEY_MISSING_FACTOR
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
    """``RERANKER=none``: the cosine alone, scaled as fitted."""

    def __init__(self, calibration: Calibration) -> None:
        self._cosine = calibration.cosine

    async def grade(self, question: Question, assessed: Sequence[SubqueryResults]) -> list[Chunk]:
        """Return every candidate once with its relevance, best first; ``answers`` is not known."""
        chunks = [chunk for results in assessed for chunk in results.chunks]
        relevance = [self._cosine.probability({"chunk_similarity": chunk.similarity}) for chunk in chunks]
        return best_first([replace(c, relevance=r, answers=None) for c, r in zip(chunks, relevance, strict=True)])


MAX_LOGIT = 9.2
"""Limit of a logit, .9999: what is measured can hardly be surer."""


class Slopes(NamedTuple):
    """Factors on the logit of a probability: of one above .5, and of one below.

    Temperature scaling (Guo et al., "On Calibration of Modern Neural Networks", 2017) on each side of .5, which stays
    where it is: fitting says how sure an answer is, and not which questions are answered.
    """

    above: float
    below: float

    def calibrated(self, probability: float) -> float:
        """Return *probability*, in [0, 1], with its logit scaled."""
        z = logit(probability)
        return logistic(z * (self.above if z > 0.0 else self.below))


@cache
def fitted_slopes() -> dict[str, Slopes]:
    """Load what ``python -m training.fit_confidence`` fitted, by who wrote the answer."""
    stored = json.loads(Path(__file__).with_name("confidence_model.json").read_bytes())
    return TypeAdapter(dict[str, Slopes]).validate_python(stored["slopes"])


def extractive_confidence(answers: float) -> float:
    """Return how probably the sentences of a chunk are right that answers with probability *answers*, in [0, 1]."""
    return fitted_slopes()["extractive"].calibrated(answers)


def model_confidence(measured: float) -> float:
    """Return how probably a chat model's verified sentences are right, by ``measured_confidence``, in [0, 1]."""
    return fitted_slopes()["model"].calibrated(measured)


CONFIRMED = 0.5
"""Added to the log-odds that the passages answer, where a chat model answers from them too.

Chosen by hand on 198 questions to a model of 1.5 billion parameters (``docs/relevance.md``, "Confidence").
"""


def measured_confidence(supports: Sequence[float | None], answering: float | None) -> float:
    """Measure how surely a chat model's sentences answer, in [0, 1].

    The mean of their *supports*, without those that state nothing; one at least states something, and one that was
    removed counts too. *answering* is the probability that the passages' own sentences answer, None where it is not
    known. With it, confirmed by the model, the measure is the geometric mean of both, in which it counts twice. It is
    never more than that: a model finds words for what no passage answers, too.
    """
    known = [support for support in supports if support is not None]
    support = sum(known) / len(known)
    if answering is None:
        return support
    confirmed = logistic(logit(answering) + CONFIRMED)
    return min(confirmed, math.cbrt(support * confirmed**2))


def quote_an_answer(citations: Sequence[Citation], chunks: Sequence[Chunk]) -> bool:
    """Whether a quote is a sentence that answers, as the reader read its chunk; True where no cited chunk was read."""
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    read = [(citation, by_id[citation.chunk_id]) for citation in citations]
    scores = [
        score > chunk.reading.null
        for citation, chunk in read
        if chunk.reading
        for (start, end), score in zip(chunk.spans, chunk.reading.sentences, strict=True)
        if start < citation.end and citation.start < end
    ]
    return any(scores) or not scores


def logit(probability: float) -> float:
    """Return the log-odds of *probability*, within ``MAX_LOGIT``."""
    if not 0.0 < probability < 1.0:
        return math.copysign(MAX_LOGIT, probability - 0.5)
    return max(-MAX_LOGIT, min(MAX_LOGIT, math.log(probability / (1.0 - probability))))


def logistic(z: float) -> float:
    """Return the probability whose log-odds are *z*."""
    return 0.5 + 0.5 * math.tanh(z / 2.0)
