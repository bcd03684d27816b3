"""The relevance threshold without a vendor, and what graders read from a question's readings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from answering.relevance.graders import Calibration, CosineGrader, LocalGrader, assess, best_first
from answering.types import SubqueryResults
from graph.ports import Grader
from tests.support.synthesis import calibration, chunk, question

__all__ = ["calibration"]  # a fixture

TOWER = chunk(1, "The tower was finished in 1889.", "Tower", similarity=0.8)
BREAD = chunk(2, "Bread needs flour and water.", "Bread", similarity=0.1)
ASKED = question("When was the tower finished?")
READING = SubqueryResults(ASKED.text, (BREAD, TOWER))


@pytest.fixture(params=["local", "none"])
def grader(request: pytest.FixtureRequest, calibration: Calibration) -> Grader:
    """A grader without a vendor."""
    return LocalGrader() if request.param == "local" else CosineGrader(calibration)


async def test_every_candidate_once_best_first(grader: Grader, calibration: Calibration) -> None:
    """Each chunk comes back once, also when several parts found it, the most relevant first."""
    found = (READING, replace(READING, question="Which bread?"))
    graded = await grader.grade(ASKED, [assess(results, calibration) for results in found])
    assert [chunk.chunk_id for chunk in graded] == ["c1", "c2"]
    assert all(0.0 <= (chunk.relevance or 0.0) <= 1.0 for chunk in graded)


async def test_local_is_the_graphs_own_rule(calibration: Calibration) -> None:
    """The local grader adds nothing to the calibrated relevance."""
    assessed = assess(READING, calibration)
    graded = await LocalGrader().grade(ASKED, [assessed])
    assert [(chunk.relevance, chunk.answers) for chunk in graded] == [
        (c.relevance, c.answers) for c in assessed.chunks[::-1]
    ]


async def test_none_is_the_calibrated_cosine(calibration: Calibration) -> None:
    """``RERANKER=none`` looks at the cosine alone."""
    graded = await CosineGrader(calibration).grade(ASKED, (READING,))
    assert graded[0].relevance == calibration.cosine.probability({"chunk_similarity": 0.8})


async def test_an_empty_pool_is_an_empty_grade(grader: Grader, calibration: Calibration) -> None:
    """Nothing retrieved is nothing graded."""
    assert await grader.grade(ASKED, [assess(SubqueryResults(ASKED.text, ()), calibration)]) == []


def test_the_best_of_several_grades_stays() -> None:
    """Of one chunk's grades the highest is kept."""
    low, high = replace(TOWER, relevance=0.2), replace(TOWER, relevance=0.7)
    assert best_first([low, high, replace(BREAD, relevance=0.5), low]) == [high, replace(BREAD, relevance=0.5)]
