"""The relevance threshold without a vendor, and what graders read from a question's readings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from answering.relevance.graders import Calibration, best_first, grade
from answering.types import SubqueryResults
from app.pipeline.extractive import CosineGrader, LocalGrader
from graph.ports import Grader
from tests.support.synthesis import calibration, chunk, question

__all__ = ["calibration"]  # a fixture

TOWER = chunk(1, "The tower was finished in 1889.", "Tower", similarity=0.8)
BREAD = chunk(2, "Bread needs flour and water.", "Bread", similarity=0.1)
ASKED = question("When was the tower finished?")
READING = SubqueryResults(ASKED.text, (BREAD, TOWER))


@pytest.mark.parametrize("kind", [LocalGrader, CosineGrader])
async def test_every_candidate_once_best_first(
    kind: type[LocalGrader | CosineGrader], calibration: Calibration
) -> None:
    """Each chunk comes back once, also when several parts found it, the most relevant first."""
    grader: Grader = kind(calibration)
    graded = await grader.grade(ASKED, (READING, replace(READING, question="Which bread?")))
    assert [one.chunk_id for one in graded] == ["c1", "c2"]
    assert all(0.0 <= (one.relevance or 0.0) <= 1.0 for one in graded)


async def test_local_is_the_graphs_own_rule(calibration: Calibration) -> None:
    """The local grader adds nothing to the calibrated relevance."""
    retrieved = (READING,)
    assert await LocalGrader(calibration).grade(ASKED, retrieved) == list(grade(retrieved, calibration))


async def test_none_is_the_calibrated_cosine(calibration: Calibration) -> None:
    """``RERANKER=none`` looks at the cosine alone."""
    graded = await CosineGrader(calibration).grade(ASKED, (READING,))
    assert graded[0].relevance == calibration.cosine.probability({"chunk_similarity": 0.8})


@pytest.mark.parametrize("kind", [LocalGrader, CosineGrader])
async def test_an_empty_pool_is_an_empty_grade(
    kind: type[LocalGrader | CosineGrader], calibration: Calibration
) -> None:
    """Nothing retrieved is nothing graded."""
    assert await kind(calibration).grade(ASKED, (SubqueryResults(ASKED.text, ()),)) == []


def test_the_best_of_several_grades_stays() -> None:
    """Of one chunk's grades the highest is kept."""
    low, high = replace(TOWER, relevance=0.2), replace(TOWER, relevance=0.7)
    assert best_first([low, high, replace(BREAD, relevance=0.5), low]) == [high, replace(BREAD, relevance=0.5)]
