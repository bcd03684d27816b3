"""Load the calibrated models: logistic regressions, one set per embedding model, from a data file."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

LEXICAL = "lexical"
"""The entry for embedding models without a calibration: it uses words alone."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic regression over named features."""

    bias: float
    weights: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """Return the logistic function of bias + Σ weight · feature, in [0, 1]."""
        z = self.bias + sum(weight * features[name] for name, weight in self.weights.items())
        return 0.5 + 0.5 * math.tanh(z / 2.0)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The models fitted for one embedding model.

    ``relevance`` scores how surely a chunk is about what is asked, ``answers`` is the probability that it answers;
    ``…_read`` are for chunks that the reader has read. ``cosine`` is Platt scaling of the raw cosine,
    for ``RERANKER=none``.
    """

    relevance: Logistic
    relevance_read: Logistic
    answers: Logistic
    answers_read: Logistic
    cosine: Logistic


def load_calibrations() -> dict[str, Calibration]:
    """Load the packaged calibrations, by embedding model."""
    stored = json.loads(Path(__file__).with_name("relevance_model.json").read_bytes())
    return TypeAdapter(dict[str, Calibration]).validate_python(stored["models"])


def calibration_for(embedding_model: str, calibrations: Mapping[str, Calibration]) -> Calibration:
    """Return the calibration of *embedding_model*; of an unknown one, the entry that uses words alone."""
    return calibrations.get(embedding_model) or calibrations[LEXICAL]
