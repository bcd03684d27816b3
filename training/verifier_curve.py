"""Show what more labelled sentences gain: ``python -m training.verifier_curve --repositories DIR [--answers FILE …]``.

A logistic regression adds to the shipped support what it does not use: the share of the sentence's words in a chunk,
that of its pairs of neighbouring words, and whether a rule refused or lowered every quote. It is fitted on an eighth, a
quarter, a half and all of the ten makers of ``model_answers``, then of these with ``short_answers``, ``DRAWS`` times
each, and measured on the five held makers and the sentences of FILE (``training.model_answers_study``).
"""

from __future__ import annotations

import argparse
import asyncio
import math
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from answering.evidence.attribution import Readings, check_of
from answering.ports import PassageReader
from answering.text.terms import stems
from app.providers.rerank.reader import OnnxReader
from training.model_answers_study import ANSWERS as MODEL_ANSWERS
from training.model_answers_study import SHORT_ANSWERS, Labelled, answers, auc, given, shipped, word_share
from training.rows import read_rows

Floats = NDArray[np.float64]
DRAWS = 200
"""Random parts of each size, and samples with replacement of the measured sentences for a standard error."""
RIDGE = 1.0
"""Weight of the squared coefficients, on features of unit variance."""
MAX_SUPPORT = 0.999
"""Where log-odds are cut: the support of a verbatim quote is 1."""


def features(one: Labelled, support: float, changes: set[str | None]) -> list[float]:
    """Return the features of a sentence, its support as log-odds first."""
    inside = min(MAX_SUPPORT, max(1.0 - MAX_SUPPORT, support))
    words = [*stems(one.claim)]
    pairs = {*pairwise(words)}
    found = max(len(pairs & {*pairwise(stems(chunk.text))}) for chunk in one.chunks) / max(1, len(pairs))
    return [
        math.log(inside / (1.0 - inside)),
        word_share(one),
        found,
        float(None not in changes),
    ]


async def table(sentences: Sequence[Labelled], reader: PassageReader) -> Floats:
    """Return the features of *sentences*, [sentences, features]."""
    rows = []
    for sentence in sentences:
        groups = tuple((number,) for number in range(len(sentence.chunks)))
        check = check_of(sentence.claim, groups, sentence.chunks, sentence.question)
        readings = Readings(reader)
        await readings.read(check.pairs())
        check.score(readings.log_odds)
        changes: set[str | None] = {quote.contradiction for group in check.candidates for quote in group}
        rows.append(features(sentence, await shipped(sentence, reader), changes))
    return np.array(rows)


def fitted(x: Floats, true: NDArray[np.bool_]) -> Floats:
    """Return the coefficients of a logistic regression of *true* on standardised *x*, the intercept last."""
    x = np.hstack([x, np.ones((len(x), 1))])
    penalty = RIDGE * np.eye(x.shape[1])
    penalty[-1, -1] = 0.0
    weights = np.zeros(x.shape[1])
    for _ in range(25):  # Newton's method
        p = 1.0 / (1.0 + np.exp(-x @ weights))
        slope = x.T @ (p - true) + penalty @ weights
        weights -= np.linalg.solve((x.T * (p * (1 - p))) @ x + penalty + 1e-9 * np.eye(len(weights)), slope)
    return weights


def curve(train: Floats, true: NDArray[np.bool_], tests: dict[str, tuple[Floats, NDArray[np.bool_]]]) -> None:
    """Print a line for each size of the training part, with the gain of AUC over the shipped support."""
    random = np.random.default_rng(1)
    centre, spread = train.mean(0), train.std(0) + 1e-9
    for share in (0.125, 0.25, 0.5, 1.0):
        size = round(share * len(train))
        line = []
        for name, (x, labels) in tests.items():
            gains = []
            for _ in range(DRAWS):
                drawn = random.permutation(len(train))[:size]
                if true[drawn].all() or not true[drawn].any():
                    continue
                weights = fitted((train[drawn] - centre) / spread, true[drawn])
                again = random.integers(len(labels), size=len(labels))
                scores = ((x - centre) / spread) @ weights[:-1]
                gains.append((auc(scores[again], labels[again]) - auc(x[again, 0], labels[again]), auc(scores, labels)))
            found: Any = np.array(gains)
            line.append(
                f"{name}: AUC {found[:, 1].mean():.3f}, gain {found[:, 0].mean():+.3f} ± {found[:, 0].std():.3f}"
            )
        print(f"{size} sentences: " + "; ".join(line))


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=Path, required=True, help="a clone of each repository, owner+name")
    parser.add_argument("--answers", type=Path, action="append", default=[], help="labelled sentences with passages")
    args = parser.parse_args()
    written = answers(read_rows(MODEL_ANSWERS), args.repositories)
    makers = [sentence for sentence in written if not sentence.held]
    training = makers + answers(read_rows(SHORT_ANSWERS), args.repositories)
    sets = {"five held makers": [sentence for sentence in written if sentence.held]}
    sets |= {path.name: given(read_rows(path)) for path in args.answers}
    reader = OnnxReader()

    async def measured() -> list[Floats]:
        return [await table(sentences, reader) for sentences in (training, *sets.values())]

    try:
        train, *tests = asyncio.run(measured())
    finally:
        reader.close()
    labels = [np.array([sentence.true for sentence in sentences], bool) for sentences in (training, *sets.values())]
    for name, x, true in zip(sets, tests, labels[1:], strict=True):
        print(f"{name}: {len(true)} sentences, shipped AUC {auc(x[:, 0].tolist(), true.tolist()):.3f}")
    measured_on = dict(zip(sets, zip(tests, labels[1:], strict=True), strict=True))
    for title, count in (("ten makers", len(makers)), ("ten makers and short answers", len(training))):
        print(f"fitted on {title}")
        curve(train[:count], labels[0][:count], measured_on)


if __name__ == "__main__":
    main()
