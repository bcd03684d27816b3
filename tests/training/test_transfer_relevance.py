"""Coefficients on the scale of another encoder's cosines."""

from __future__ import annotations

import numpy as np
import pytest

from answering.relevance.graders import load_calibrations
from training.transfer_relevance import entries, means, transferred

ENTRY = {"relevance": {"bias": -3.0, "weights": {"chunk_similarity": 8.0, "sentence_similarity": 1.0, "keyword": 2.0}}}


def test_what_is_as_far_between_the_means_is_as_relevant() -> None:
    """A cosine that lies between two means as another one does between its own gives the same logit."""
    (model,) = transferred(ENTRY, (0.44, 0.05), (0.68, 0.48)).values()
    for share in (0.0, 0.3, 1.0, 1.5):
        before, after = 0.05 + share * 0.39, 0.48 + share * 0.2
        expected = -3.0 + 9.0 * before + 2.0 * 0.4
        weights = model["weights"]
        logit = model["bias"] + (weights["chunk_similarity"] + weights["sentence_similarity"]) * after
        assert logit + weights["keyword"] * 0.4 == pytest.approx(expected, abs=2e-3)


def test_the_encoders_own_scale_changes_nothing() -> None:
    """Between equal means the coefficients stay as they are."""
    assert transferred(ENTRY, (0.44, 0.05), (0.44, 0.05)) == ENTRY


def test_every_encoder_and_its_pair_with_the_default_has_an_entry() -> None:
    """Of two other encoders there are four entries; a pair's means are those of its weighed cosines."""
    names = ("all-MiniLM-L6-v2", "bge-small-en-v1.5", "all-mpnet-base-v2")
    cosines = {name: np.random.default_rng(n).random((5, 5), np.float32) + np.eye(5) for n, name in enumerate(names)}
    made = entries(cosines, ENTRY)
    assert sorted(made) == [
        "all-MiniLM-L6-v2+all-mpnet-base-v2",
        "all-MiniLM-L6-v2+bge-small-en-v1.5",
        *sorted(names[1:]),
    ]
    assert means(np.eye(3, dtype=np.float32)) == (1.0, 0.0)


@pytest.mark.parametrize("other", ["bge-small-en-v1.5", "all-mpnet-base-v2"])
def test_named_encoders_are_calibrated(other: str) -> None:
    """The shipped file has coefficients for the named encoders, alone and with the default one."""
    shipped = load_calibrations()
    for name in (other, f"all-MiniLM-L6-v2+{other}"):
        assert set(shipped[name].relevance.weights) == set(shipped["all-MiniLM-L6-v2"].relevance.weights)
