"""Assess how probable it is that a chunk is about a question, and that it answers it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from graph.relevance.calibration import Calibration
from graph.relevance.designations import names_another
from graph.relevance.features import Features, Match, measure
from graph.state import Chunk, SubqueryResults
from graph.terms import Idf

OF_ANOTHER = 0.3
"""Share of its probability to answer that a chunk keeps where it names another year, or number, than the question.

Too little for the usual bar. Not fitted: hardly a question of the fitted sets asks for another year."""


class Assessment(NamedTuple):
    """One candidate: what was measured of it and its sentences, and its two probabilities in [0, 1]."""

    chunk: Chunk
    matches: tuple[Match, ...]
    features: Features
    relevance: float
    answers: float


def assess(results: SubqueryResults, idf: Idf, calibration: Calibration) -> tuple[Assessment, ...]:
    """Assess every candidate of *results*, in its order, with both calibrated probabilities."""
    assessed = []
    for chunk, matches, features in measure(results, idf):
        named = features._asdict()
        relevance, answers = (
            (calibration.relevance_read, calibration.answers_read)
            if chunk.read
            else (calibration.relevance, calibration.answers)
        )
        text = "\n".join(filter(None, (chunk.title, chunk.section, chunk.text)))
        kept = OF_ANOTHER if names_another(results.question, text) else 1.0
        probability = answers.probability(named) * kept
        assessed.append(Assessment(chunk, matches, features, relevance.probability(named), probability))
    return tuple(assessed)


def grade(subquery_results: Sequence[SubqueryResults], idf: Idf, calibration: Calibration) -> tuple[Chunk, ...]:
    """Grade every candidate once, ordered by the mean of relevance and the probability to answer.

    ``relevance`` is the calibrated probability in [0, 1] that the chunk is about what the question asks; of a compound
    question, about the sub-question it is most about.
    """
    best: dict[str, Assessment] = {}
    for results in subquery_results:
        for one in assess(results, idf, calibration):
            known = best.get(one.chunk.chunk_id)
            if known is None or known.relevance < one.relevance:
                best[one.chunk.chunk_id] = one
    ordered = sorted(best.values(), key=lambda one: -(one.relevance + one.answers))
    return tuple(replace(one.chunk, relevance=one.relevance) for one in ordered)
