"""What ``garden calibrate`` has fitted, as a start reads it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from app.pipeline.rerank_grader import FITTED_FILE, read_fitted
from graph.errors import ConfigurationError

MODELS = ("relevance", "relevance_read", "answers", "answers_read", "cosine")


@pytest.mark.parametrize(
    "spoil",
    [lambda entry: entry.pop("relevance_read"), lambda entry: entry.update(answers=3)],
    ids=["missing", "mistyped"],
)
def test_a_spoiled_file_is_named(tmp_path: Path, spoil: Callable[[dict[str, object]], object]) -> None:
    """A file that does not hold calibrations is refused with its name."""
    entry: dict[str, object] = {name: {"bias": 0.0, "weights": {"coverage": 1.0}} for name in MODELS}
    path = tmp_path / FITTED_FILE
    path.write_text(json.dumps({"models": {"m": entry}}), encoding="utf-8")
    assert read_fitted(tmp_path).models["m"].cosine.weights == {"coverage": 1.0}
    spoil(entry)
    path.write_text(json.dumps({"models": {"m": entry}}), encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"relevance_model\.json"):
        read_fitted(tmp_path)
