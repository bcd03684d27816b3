"""Logistic regression with weights that cannot be negative, in numpy alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

RIDGE = 1.0
"""Penalty on the squares of the weights, of features scaled to unit variance: next to nothing for hundreds of rows."""


def fit_logistic(x: Array, y: Array, positive_weight: float = 1.0, ridge: float = RIDGE) -> tuple[Array, float]:
    """Weights [features], none negative, and bias that make *y* [rows] of 0 and 1 likeliest given *x* [rows, features].

    Each positive row counts *positive_weight* times. A feature that would need a negative weight gets 0: more of any
    evidence must never make a chunk less relevant. Newton's method on the weights that are free to move (Bertsekas,
    1982, "Projected Newton methods"). Raises `ValueError` when *y* does not hold both classes.
    """
    if not 0.0 < float(y.mean()) < 1.0:
        raise ValueError("right and wrong rows are both needed")
    mean, scale = x.mean(0), x.std(0)
    scale[scale == 0.0] = 1.0
    z = np.column_stack([(x - mean) / scale, np.ones(len(x))])
    rows = np.where(y > 0, positive_weight, 1.0)
    penalty = np.append(np.full(x.shape[1], ridge), 0.0)
    w = np.zeros(z.shape[1])
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(-z @ w))
        gradient = z.T @ (rows * (p - y)) + penalty * w
        held = (w <= 0.0) & (gradient > 0.0)
        held[-1] = False  # the bias has no sign to keep
        free = ~held
        if np.abs(gradient[free]).max() < 1e-6 * len(y):
            break
        curvature = (z[:, free] * (rows * p * (1 - p))[:, None]).T @ z[:, free] + np.diag(penalty[free] + 1e-9)
        step = np.zeros_like(w)
        step[free] = np.linalg.solve(curvature, gradient[free])
        w = _descend(z, y, rows, penalty, w, step)
    weights = w[:-1] / scale
    return weights, float(w[-1] - mean @ weights)


def _descend(z: Array, y: Array, rows: Array, penalty: Array, w: Array, step: Array) -> Array:
    """The farthest of the halved steps, cut off at zero, that lowers the loss."""

    def loss(at: Array) -> float:
        score = z @ at
        return float((rows * (np.logaddexp(0.0, score) - y * score)).sum() + 0.5 * (penalty * at * at).sum())

    now = loss(w)
    for halving in range(30):
        moved: Array = w - step / 2**halving
        moved[:-1] = np.maximum(moved[:-1], 0.0)
        if loss(moved) < now:
            return np.asarray(moved)
    return w
