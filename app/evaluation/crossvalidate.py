"""Cross-validation of the two gates, and the measures they are judged by."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from app.evaluation.logistic import fit_logistic
from app.evaluation.samples import FOLDS, Samples

Array = NDArray[np.float64]

LOST_ANSWER_WEIGHT = 1.0
"""To gate two a wrong chunk that passes is as bad as a right one lost, and its probabilities are honest."""
GATE_ONE = 0.8
"""The threshold on relevance the measures are taken at: the product's default."""


def cross_validate(
    train: Sequence[Samples],
    topical: Sequence[str],
    answers: Sequence[str],
    positive_weight: float,
    answer_weight: float = LOST_ANSWER_WEIGHT,
) -> list[tuple[Array, Array]]:
    """Per element of *train* the probabilities (topical, answers) [pairs], each from models that never saw its fold.

    *topical* and *answers* name the features of the two models, *positive_weight* and *answer_weight* are what a right
    row counts in each. All of *train* hold the same questions in the same folds. Raises `ValueError` when a fold leaves
    nothing right, or nothing wrong, to fit on.
    """
    found = [(np.zeros(len(one.question)), np.zeros(len(one.question))) for one in train]
    for fold in range(FOLDS):
        held = [one.fold[one.question] == fold for one in train]
        gates = ((topical, "topical", positive_weight), (answers, "answers", answer_weight))
        for at, (names, label, weight) in enumerate(gates):
            x = np.vstack([one.columns(names)[~out] for one, out in zip(train, held, strict=True)])
            y = np.concatenate([getattr(one, label)[~out] for one, out in zip(train, held, strict=True)])
            weights, bias = fit_logistic(x, y, weight)
            for one, out, probabilities in zip(train, held, found, strict=True):
                probabilities[at][out] = 1.0 / (1.0 + np.exp(-(one.columns(names)[out] @ weights + bias)))
    return found


def rates(
    samples: Samples, topical: Array, answers: Array, threshold: float, source: int | None = None
) -> dict[str, float]:
    """Measures over the questions of one file (*source*), or of all, gate one at .8 and gate two at *threshold*."""
    ours = np.full(len(samples.fold), fill_value=True) if source is None else samples.source == source
    mine = ours[samples.question]
    one = topical >= GATE_ONE
    both = one & (answers >= threshold)
    right = samples.answers > 0
    can, cannot = ours & samples.answerable, ours & ~samples.answerable
    top = np.array([at for at in _best(samples, topical) if mine[at]], dtype=np.int64)
    answered = np.array([at for at in _best(samples, np.where(one, answers, 0.0)) if (both & mine)[at]], dtype=np.int64)
    return {
        "right chunk passes gate one": _any(samples, one & right)[can].mean(),
        "and gate two": _any(samples, both & right)[can].mean(),
        "wrongly passes both": _any(samples, both)[cannot].mean(),
        "precision": right[both & mine].mean(),
        "calibration error, pairs": calibration_error(topical[mine], samples.topical[mine]),
        "top": calibration_error(topical[top], samples.topical[top]),
        "of answers": calibration_error(answers[answered], samples.answers[answered]),
        "right outcome": _right_outcomes(samples, topical, answers, threshold)[ours].mean(),
    }


def calibration_error(probabilities: Array, happened: Array, bins: int = 10) -> float:
    """Expected calibration error: mean over *bins* of equal width of |stated - happened|, by their share of rows."""
    place = np.minimum((probabilities * bins).astype(int), bins - 1)
    return float(
        sum(
            (place == at).mean() * abs(probabilities[place == at].mean() - happened[place == at].mean())
            for at in np.unique(place)
        )
    )


def _right_outcomes(samples: Samples, topical: Array, answers: Array, threshold: float) -> NDArray[np.bool_]:
    """Per question, whether the best chunk through both gates is right, or there is none and none is wanted."""
    passed = np.where(topical >= GATE_ONE, answers, 0.0)
    outcome = ~samples.answerable
    for at in _best(samples, passed):
        if passed[at] >= threshold:
            outcome[samples.question[at]] = samples.answers[at] > 0
    return outcome


def _best(samples: Samples, scores: Array) -> list[int]:
    """Per question that has candidates, the row of the highest score."""
    order = np.lexsort((np.arange(len(scores)), -scores, samples.question))
    _, first = np.unique(samples.question[order], return_index=True)
    return [int(at) for at in order[first]]


def _any(samples: Samples, rows: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Per question, whether any of its rows is among *rows*."""
    found = np.zeros(len(samples.fold), dtype=np.bool_)
    np.logical_or.at(found, samples.question, rows)
    return found
