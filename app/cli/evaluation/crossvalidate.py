"""Cross-validation of the two gates, and the measures they are judged by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.cli.evaluation.samples import FOLDS, Samples

Array = NDArray[np.float64]

GATE_ONE = 0.8
"""The threshold on relevance the measures are taken at: the product's default."""


def cross_validate(
    train: Sequence[Samples], fitted: Callable[[Sequence[Samples]], Mapping[str, Any]]
) -> list[tuple[Array, Array]]:
    """Per element of *train* the probabilities (relevance, answers) [pairs], from entries that never saw its fold.

    *fitted* makes an entry, as `app.cli.evaluation.fit` does. Raises `ValueError` when a fold leaves nothing right, or
    nothing wrong, to fit on.
    """
    found = [(np.zeros(len(one.question)), np.zeros(len(one.question))) for one in train]
    for fold in range(FOLDS):
        held = [one.fold[one.question] == fold for one in train]
        entry = fitted([one.rows(~out) for one, out in zip(train, held, strict=True)])
        for one, out, kept in zip(train, held, found, strict=True):
            for all_rows, its_own in zip(kept, probabilities(one.rows(out), entry), strict=True):
                all_rows[out] = its_own
    return found


def probabilities(samples: Samples, entry: Mapping[str, Any]) -> tuple[Array, Array]:
    """What *entry* makes of the pairs: (relevance, answers) [pairs]. A chunk that was not read answers nothing."""
    relevance, relevance_read, answers = (
        1.0 / (1.0 + np.exp(-logits(samples, entry[name]))) for name in ("relevance", "relevance_read", "answers_read")
    )
    return np.where(samples.read, relevance_read, relevance), np.where(samples.read, answers, 0.0)


def logits(samples: Samples, model: Mapping[str, Any]) -> Array:
    """The sums of one model of an entry, ``bias + Σ weight · feature`` [pairs]."""
    weights = np.array(list(model["weights"].values()), dtype=np.float64)
    return samples.columns(list(model["weights"])) @ weights + float(model["bias"])


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
    rightly, wrongly = (
        np.isin(np.arange(len(ours)), samples.question[answered[right[answered] == so]]) for so in (True, False)
    )
    return {
        "right chunk passes gate one": _mean(_any(samples, one & right)[can]),
        "and gate two": _mean(_any(samples, both & right)[can]),
        "off topic passes gate one": _mean(_any(samples, one)[off]),
        "wrongly passes both": _mean(_any(samples, both)[cannot]),
        "chunks through gate one": float(np.bincount(samples.question[one & mine], minlength=len(ours))[ours].mean()),
        "precision": _mean(right[both & mine]),
        "calibration error, pairs": calibration_error(topical[known], samples.topical[known]),
        "top": calibration_error(topical[top], samples.topical[top]),
        "of answers": calibration_error(answers[answered], samples.answers[answered]),
        "answered right": _mean(rightly[can]),
        "answered wrongly": _mean(wrongly[ours]),
        "right outcome": _mean((rightly | ~(samples.answerable | wrongly))[ours]),
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


def _mean(happened: NDArray[np.bool_]) -> float:
    """The share that happened; not a number where nothing could."""
    return float(happened.mean()) if len(happened) else float("nan")


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
