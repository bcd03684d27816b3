"""Confidence: how probably an answer is right."""

import pytest

from answering.relevance.graders import Slopes, extractive_confidence, fitted_slopes


def test_the_bar_stays_where_it_is() -> None:
    """.5 stays .5: fitting says how sure an answer is, and does not move which questions are answered."""
    assert extractive_confidence(0.5) == 0.5
    assert extractive_confidence(0.5001) > 0.5 > extractive_confidence(0.4999)


def test_confidence_grows_with_what_the_passage_answers() -> None:
    """A surer passage makes a surer answer, from 0 to 1, and no answer is quite sure."""
    stated = [extractive_confidence(n / 100) for n in range(101)]
    assert stated == sorted(stated)
    assert 0.0 < stated[0] < 0.001 < 0.95 < stated[-1] < 1.0


def test_each_side_has_its_slope() -> None:
    """Odds of 3 become 3² above .5 with a slope of 2, and of 1/3 its root below with one of ½."""
    slopes = Slopes(above=2.0, below=0.5)
    assert slopes.calibrated(0.75) == pytest.approx(9 / 10)
    assert slopes.calibrated(0.25) == pytest.approx(1 / (1 + 3**0.5))


def test_an_answer_is_less_sure_than_its_passage() -> None:
    """What answers surely is still wrong sometimes: at .95 fewer than nine of ten answers are right."""
    assert fitted_slopes()["extractive"].calibrated(0.95) < 0.9
