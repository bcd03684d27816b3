"""Fit the relevance models of one embedding model, and cross-validate them."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from answering.relevance.graders import extractive_confidence
from answering.types import MIN_CONFIDENCE, RELEVANCE_THRESHOLD
from app.cli.evaluation.measures import calibration_error
from app.cli.evaluation.samples import FOLDS, Flags, Floats, Samples

RELEVANCE = ("chunk_similarity", "sentence_similarity", "keyword", "coverage", "headed")
ANSWERS = ("chunk_similarity", "sentence_similarity", "coverage", "headed", "brief_keyword")
READ = ("margin", "answerable")
"""Features of the reader, for chunks that were read."""
RELEVANT_WEIGHTS, ANSWER_WEIGHTS = (11.5, 4.3), (3.5, 1.6)
"""Weights of a right pair against a wrong one, of a chunk below a heading and of one below none. A lost right chunk is
worse than a wrong one that passes, since whether it answers is decided later; and more so in a manual, where the
siblings of the right chunk are about the same thing. Chosen by cross-validation: ``docs/relevance.md``."""
RIDGE = 1.0
"""Penalty on the squared weights of features scaled to unit variance."""


def fit(
    samples: Samples,
    relevance: Sequence[str] = RELEVANCE,
    answers: Sequence[str] = ANSWERS,
    in_use: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Fit an entry of the file of calibrations.

    The models of chunks that were read are those of *in_use*, if given, where such chunks are all right or all wrong:
    reading stops at the first that answers. Raises `ValueError` as `fit_logistic` does.
    """
    features = {"relevance": relevance, "answers": answers, "cosine": ("chunk_similarity",)}
    entry = {}
    for model, (rows, labels, positive_weight) in _training_rows(samples).items():
        kind, _, read = model.partition("_")
        if in_use and read and (labels.all() or not labels.any()):
            entry[model] = in_use[model]
            continue
        names = (*features[kind], *READ) if read else features[kind]
        weights, bias = fit_logistic(rows.columns(names), labels, positive_weight)
        entry[model] = _model(bias, dict(zip(names, weights, strict=True)))
    return entry


def rescale(samples: Samples, entry: Mapping[str, Any], added: Sequence[str] = ()) -> dict[str, Any]:
    """Replace each logit z of *entry* by ``a·z + b``, a ≥ 0; *added* features join all models but ``cosine``.

    Raises `ValueError` as `fit_logistic` does.
    """
    rescaled = {}
    for model, (rows, labels, positive_weight) in _training_rows(samples).items():
        joining = () if model == "cosine" else added
        x = np.column_stack([rows.logits(entry[model]), rows.columns(joining)])
        (scale, *weights), bias = fit_logistic(x, labels, positive_weight)
        combined = {name: scale * weight for name, weight in entry[model]["weights"].items()}
        for name, weight in zip(joining, weights, strict=True):
            combined[name] = combined.get(name, 0.0) + weight
        rescaled[model] = _model(scale * entry[model]["bias"] + bias, combined)
    return rescaled


def fit_logistic(x: Floats, y: Flags, positive_weight: Floats | float = 1.0) -> tuple[Floats, float]:
    """Fit non-negative weights [features] and a bias to labels *y* [rows], given *x* [rows, features].

    Each positive row counts *positive_weight* times, [rows] or one for all. Weights are not negative, since evidence
    must never lower relevance: projected Newton method (Bertsekas 1982). Raises `ValueError` for *y* of one class.
    """
    if not 0.0 < float(y.mean()) < 1.0:
        raise ValueError("right and wrong rows are both needed")
    mean, scale = x.mean(0), x.std(0)
    scale[scale == 0.0] = 1.0
    z = np.column_stack([(x - mean) / scale, np.ones(len(x))])
    rows = np.where(y > 0, positive_weight, 1.0)
    penalty = np.append(np.full(x.shape[1], RIDGE), 0.0)

    def loss(w: Floats) -> float:
        score = z @ w
        return float((rows * (np.logaddexp(0.0, score) - y * score)).sum() + 0.5 * (penalty * w * w).sum())

    w = np.zeros(z.shape[1])
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(-z @ w))
        gradient = z.T @ (rows * (p - y)) + penalty * w
        free = (w > 0.0) | (gradient <= 0.0)
        free[-1] = True  # the bias may be negative
        if np.abs(gradient[free]).max() < 1e-6 * len(y):
            break
        curvature = (z[:, free] * (rows * p * (1 - p))[:, None]).T @ z[:, free] + np.diag(penalty[free] + 1e-9)
        step = np.zeros_like(w)
        step[free] = np.linalg.solve(curvature, gradient[free])
        for halving in range(30):
            moved = w - step / 2**halving
            moved[:-1] = np.maximum(moved[:-1], 0.0)
            if loss(moved) < loss(w):
                w = moved
                break
    weights = w[:-1] / scale
    return weights, float(w[-1] - mean @ weights)


def cross_validate(samples: Samples, fitted: Callable[[Samples], Mapping[str, Any]]) -> Floats:
    """Compute probabilities (relevance, answers) [2, pairs] by entries of *fitted* that never saw the pair's fold.

    Raises `ValueError` when a fold leaves nothing right, or nothing wrong, to fit on.
    """
    estimates = np.zeros((2, len(samples.question)))
    for fold in range(FOLDS):
        held = samples.fold[samples.question] == fold
        estimates[:, held] = probabilities(samples.rows(held), fitted(samples.rows(~held)))
    return estimates


def probabilities(samples: Samples, entry: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Compute (relevance, answers) [pairs] by *entry*; a chunk that was not read answers nothing."""
    relevance, relevance_read, answers = (
        1.0 / (1.0 + np.exp(-samples.logits(entry[name]))) for name in ("relevance", "relevance_read", "answers_read")
    )
    either = 1.0 - (1.0 - relevance_read) * (1.0 - answers)  # as answering.relevance.graders.assess
    return np.where(samples.read, either, relevance), np.where(samples.read, answers, 0.0)


def rates(
    samples: Samples,
    relevance: Floats,
    answers: Floats,
    least_relevance: float = RELEVANCE_THRESHOLD,
    least_confidence: float = MIN_CONFIDENCE,
) -> dict[str, float | None]:
    """Compute rates over the questions at two thresholds; None of nothing."""
    passed, labelled = relevance >= least_relevance, samples.known
    right_passed, rightly, wrongly = (np.zeros_like(samples.answerable) for _ in range(3))
    answered = []
    for number in range(len(samples.fold)):
        rows = np.flatnonzero(passed & (samples.question == number))
        right_passed[number] = samples.answers[rows].any()
        if len(rows) and extractive_confidence(answers[rows].max()) >= least_confidence:
            answered.append(rows[answers[rows].argmax()])
            rightly[number] = samples.answers[answered[-1]]
            wrongly[number] = not rightly[number]
    return {
        "right chunk passes grade": mean(right_passed[samples.answerable]),
        "chunks that pass, a question": float(passed.sum() / len(samples.fold)),
        "answered right": mean(rightly[samples.answerable]),
        "answered wrongly": mean(wrongly),
        "calibration error of relevance": calibration_error(
            list(zip(relevance[labelled], samples.relevant[labelled], strict=True))
        ),
        "calibration error of confidence": calibration_error(
            list(zip(map(extractive_confidence, answers[answered]), samples.answers[answered], strict=True))
        ),
        "right outcome": mean(rightly | ~(samples.answerable | wrongly)),
    }


def mean(happened: Flags) -> float | None:
    """Compute the share that happened; None of nothing."""
    return float(happened.mean()) if len(happened) else None


def _training_rows(samples: Samples) -> dict[str, tuple[Samples, Flags, Floats | float]]:
    """Select for each model its pairs, their labels, and the weights of positive ones."""
    labelled, judged = samples.rows(samples.known), samples.rows(samples.judged)
    read, judged_read = labelled.rows(labelled.read), judged.rows(judged.read)
    return {
        "relevance": (labelled, labelled.relevant, _weights(labelled, RELEVANT_WEIGHTS)),
        "relevance_read": (read, read.relevant, _weights(read, RELEVANT_WEIGHTS)),
        "answers": (judged, judged.answers, _weights(judged, ANSWER_WEIGHTS)),
        "answers_read": (judged_read, judged_read.answers, _weights(judged_read, ANSWER_WEIGHTS)),
        "cosine": (labelled, labelled.relevant, 1.0),
    }


def _weights(samples: Samples, weights: tuple[float, float]) -> Floats:
    """Return for each pair the weight that it has if it is right, float [pairs]."""
    return np.where(samples.columns(("headed",))[:, 0] > 0.0, *weights)


def _model(bias: float, weights: Mapping[str, float]) -> dict[str, Any]:
    positive = {name: round(float(weight), 3) for name, weight in weights.items() if weight > 0.0}
    return {"bias": round(float(bias), 3), "weights": positive}
