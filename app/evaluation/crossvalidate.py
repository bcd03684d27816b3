"""Cross-validation of the two gates, and the measures they are judged by."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from app.evaluation.logistic import fit_logistic
from app.evaluation.samples import FOLDS, Samples

Array = NDArray[np.float64]

GATE_ONE = 0.8
"""The threshold on relevance the measures are taken at: the product's default."""


def cross_validate(
    train: Sequence[Samples],
    relevance: Sequence[str],
    answers: Sequence[str],
    read: Sequence[str],
    positive_weights: tuple[float, float],
) -> list[tuple[Array, Array]]:
    """Per element of *train* the probabilities (relevance, answers) [pairs], each from models that never saw its fold.

    *relevance*, *answers* and *read* name the features, as in `app.evaluation.fit`; *positive_weights* are what a right
    row counts for each. A chunk that was not read answers nothing. Raises `ValueError` when a fold leaves nothing
    right, or nothing wrong, to fit on.
    """
    found = [(np.zeros(len(one.question)), np.zeros(len(one.question))) for one in train]
    models: tuple[tuple[int, Sequence[str], str, float, Callable[[Samples], NDArray[np.bool_]]], ...] = (
        (0, relevance, "topical", positive_weights[0], lambda one: one.known),
        (0, (*relevance, *read), "topical", positive_weights[0], lambda one: one.known & one.read),
        (1, (*answers, *read), "answers", positive_weights[1], lambda one: one.read),
    )
    for fold in range(FOLDS):
        held = [one.fold[one.question] == fold for one in train]
        for at, names, label, weight, rows in models:
            kept = [rows(one) & ~out for one, out in zip(train, held, strict=True)]
            even = balanced([one.rows(some) for one, some in zip(train, kept, strict=True)])
            x = np.vstack([one.columns(names) for one in even])
            y = np.concatenate([getattr(one, label) for one in even])
            weights, bias = fit_logistic(x, y, weight)
            for one, out, probabilities in zip(train, held, found, strict=True):
                some = out & (one.read if set(read) & set(names) else True)
                probabilities[at][some] = 1.0 / (1.0 + np.exp(-(one.columns(names)[some] @ weights + bias)))
    return found


def balanced(train: Sequence[Samples]) -> list[Samples]:
    """Each of *train* as often as brings it near the size of the largest, so that each corpus counts alike."""
    most = max((len(one.question) for one in train), default=0)
    return [one for one in train for _ in range(max(1, round(most / max(1, len(one.question)))))]


def rates(
    samples: Samples, topical: Array, answers: Array, threshold: float, source: int | None = None
) -> dict[str, float]:
    """Measures over the questions of one file (*source*), or of all, gate one at .8 and gate two at *threshold*."""
    ours = np.full(len(samples.fold), fill_value=True) if source is None else samples.source == source
    mine = ours[samples.question]
    one = topical >= GATE_ONE
    known = mine & samples.known
    both = one & (answers >= threshold)
    right = samples.answers > 0
    off = ours & _any(samples, known) & ~_any(samples, known & (samples.topical > 0)) & ~samples.answerable
    can, cannot = ours & samples.answerable, ours & ~samples.answerable
    top = np.array([at for at in _best(samples, topical) if known[at]], dtype=np.int64)
    answered = np.array([at for at in _best(samples, np.where(one, answers, 0.0)) if (both & mine)[at]], dtype=np.int64)
    return {
        "right chunk passes gate one": _any(samples, one & right)[can].mean(),
        "and gate two": _any(samples, both & right)[can].mean(),
        "off topic passes gate one": _any(samples, one)[off].mean(),
        "wrongly passes both": _any(samples, both)[cannot].mean(),
        "chunks through gate one": float(np.bincount(samples.question[one & mine], minlength=len(ours))[ours].mean()),
        "precision": right[both & mine].mean(),
        "calibration error, pairs": calibration_error(topical[known], samples.topical[known]),
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
