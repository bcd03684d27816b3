"""How probable it is that a chunk is about a question, and that it answers it."""

from collections.abc import Sequence
from typing import NamedTuple

from graph.relevance.calibration import Calibration
from graph.relevance.designations import names_another
from graph.relevance.features import Features, Match, measure
from graph.state import Chunk, SubqueryResults
from graph.terms import Idf

OF_ANOTHER = 0.3
"""Of its probability to answer a chunk keeps so much where it speaks of another year, or number, than the question: too
little for the usual bar. Not fitted: hardly a question of the fitted sets asks for what another year's text says."""


class Assessment(NamedTuple):
    """One candidate of a reading: what was measured of it and its sentences, and its two probabilities in [0, 1]."""

    chunk: Chunk
    matches: tuple[Match, ...]
    features: Features
    relevance: float
    answers: float


def assess(reading: SubqueryResults, idf: Idf, calibration: Calibration) -> tuple[Assessment, ...]:
    """Every candidate of *reading*, in its order, with both calibrated probabilities."""
    assessed = []
    for chunk, matches, features in measure(reading, idf):
        read = chunk.read is not None
        named = features._asdict()
        relevance = calibration.relevance_read if read else calibration.relevance
        answers = (calibration.answers_read if read else calibration.answers).probability(named)
        if names_another(reading.question, "\n".join(filter(None, (chunk.title, chunk.section, chunk.text)))):
            answers *= OF_ANOTHER
        assessed.append(Assessment(chunk, matches, features, relevance.probability(named), answers))
    return tuple(assessed)


def grade(subquery_results: Sequence[SubqueryResults], idf: Idf, calibration: Calibration) -> tuple[Chunk, ...]:
    """Every candidate once with its ``relevance``, ordered by the mean of relevance and the probability to answer.

    ``relevance`` is the calibrated probability in [0, 1] that the chunk is about what the question asks; of a
    compound question, about that part which it is most about.
    """
    best: dict[str, Assessment] = {}
    for reading in subquery_results:
        for one in assess(reading, idf, calibration):
            known = best.get(one.chunk.chunk_id)
            if known is None or known.relevance < one.relevance:
                best[one.chunk.chunk_id] = one
    ordered = sorted(best.values(), key=lambda one: -(one.relevance + one.answers))
    return tuple([one.chunk.having(relevance=one.relevance) for one in ordered])
