"""Fitting relevance to pairs of question and chunk."""

from __future__ import annotations

import numpy as np
import pytest

from answering.relevance.features import FEATURE_NAMES
from app.cli.evaluation.fit import cross_validate, fit, fit_logistic, probabilities, rates, rescale
from app.cli.evaluation.measures import calibration_error
from app.cli.evaluation.samples import FOLDS, Samples
from training.fit_relevance import joined


def made_samples(questions: int = 60, candidates: int = 4) -> Samples:
    """Questions of which every third has no answer; else the first candidate is right and has higher features."""
    draw = np.random.default_rng(3)
    question = np.repeat(np.arange(questions), candidates)
    answerable = np.arange(questions) % 3 > 0
    right = (np.arange(len(question)) % candidates == 0) & answerable[question]
    features = draw.normal(size=(len(question), len(FEATURE_NAMES))) + 2.0 * right[:, None]
    everything = np.ones(len(question), dtype=np.bool_)
    return Samples(
        features=features,
        question=question,
        relevant=right,
        answers=right,
        read=np.arange(len(question)) % candidates < 2,
        known=everything,
        judged=everything,
        fold=np.arange(questions) % FOLDS,
        answerable=answerable,
    )


def test_the_weights_of_separable_evidence_are_found_and_never_negative() -> None:
    """A feature that speaks for the label gets weight, one that speaks against it none, and noise next to none."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 3))
    y = rng.random(2000) < 1 / (1 + np.exp(-(2 * x[:, 0] - 1.5 * x[:, 1] - 1)))
    weights, bias = fit_logistic(x, y)
    assert weights[0] > 1.0
    assert weights[1] == 0.0
    assert abs(weights[2]) < 0.2
    p = 1 / (1 + np.exp(-(x @ weights + bias)))
    assert p.mean() == pytest.approx(y.mean(), abs=1e-3)


def test_one_class_cannot_be_fitted() -> None:
    """Rows that are all right, or all wrong, are refused."""
    with pytest.raises(ValueError, match="both"):
        fit_logistic(np.ones((3, 1)), np.ones(3, dtype=np.bool_))


def test_calibration_error_is_the_gap_between_stated_and_seen() -> None:
    """What says .9 and happens half the time is .4 off; what says .25 and happens a quarter of the time is not off."""
    assert calibration_error([(0.9, 1.0), (0.9, 0.0)] * 5) == pytest.approx(0.4)
    assert calibration_error([(0.25, 1.0), *[(0.25, 0.0)] * 3] * 2) == pytest.approx(0.0)


def test_an_entry_holds_every_model_without_negative_weights() -> None:
    """Fitting gives every model, whose features all exist and whose weights are positive."""
    entry = fit(made_samples())
    for model in ("relevance", "relevance_read", "answers", "answers_read", "cosine"):
        assert set(entry[model]["weights"]) <= set(FEATURE_NAMES)
        assert all(weight > 0 for weight in entry[model]["weights"].values())


def test_rescaling_keeps_the_proportions_of_an_entry_but_for_what_joins_it() -> None:
    """Each model's weights are those it had times one number; an added feature joins all but the plain cosine."""
    words = {"bias": -1.0, "weights": {"keyword": 2.0, "coverage": 1.0}}
    entry = dict.fromkeys(("relevance", "relevance_read", "answers", "answers_read"), words)
    entry["cosine"] = {"bias": 0.0, "weights": {"chunk_similarity": 1.0}}
    samples = made_samples()
    plain, extended = rescale(samples, entry), rescale(samples, entry, ("sentence_similarity",))
    for model in ("relevance", "answers"):
        assert plain[model]["weights"]["keyword"] == pytest.approx(2 * plain[model]["weights"]["coverage"], abs=0.01)
    assert "sentence_similarity" in extended["relevance"]["weights"]
    assert plain["cosine"] == extended["cosine"]


def test_held_out_probabilities_come_from_the_other_folds() -> None:
    """A fold's probabilities do not change with its own labels; those of the other folds do."""
    samples = made_samples()
    before = cross_validate(samples, fit)[0]
    in_fold = samples.fold[samples.question] == 0
    changed = np.where(in_fold, ~samples.relevant, samples.relevant)
    other = Samples(**{name: getattr(samples, name) for name in Samples.__slots__} | {"relevant": changed})
    after = cross_validate(other, fit)[0]
    assert np.array_equal(before[in_fold], after[in_fold])
    assert not np.allclose(before[~in_fold], after[~in_fold])


def test_rates_count_questions_and_a_chunk_that_was_not_read_answers_nothing() -> None:
    """Perfect probabilities give perfect rates; unread chunks have no probability to answer."""
    samples = made_samples()
    found = rates(samples, samples.relevant.astype(float), samples.answers.astype(float))
    assert [found[name] for name in ("right chunk passes grade", "answered right", "right outcome")] == [1.0] * 3
    assert (found["answered wrongly"], found["calibration error of relevance"]) == (0.0, 0.0)
    assert found["chunks that pass, a question"] == pytest.approx(2 / 3)
    assert not probabilities(samples, fit(samples))[1][~samples.read].any()
    assert rates(samples.rows(~samples.read), *(np.zeros((~samples.read).sum()),) * 2)["right outcome"] == (
        pytest.approx(1 / 3)
    )


def test_joined_questions_follow_each_other() -> None:
    """The second part's pairs belong to questions numbered after those of the first."""
    one = made_samples(6)
    both = joined([one, one])
    assert len(both.fold) == 12
    assert both.question.tolist() == [*one.question.tolist(), *(one.question + 6).tolist()]
