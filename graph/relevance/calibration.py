"""The calibrated models: logistic regressions, one set per embedding model, read from a data file."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

LEXICAL = "lexical"
"""The entry for embedding models nobody has calibrated: it looks at words alone."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """A logistic regression over named features."""

    bias: float
    weights: Mapping[str, float]

    def probability(self, features: Mapping[str, float]) -> float:
        """``1 / (1 + exp(-(bias + Σ weight · feature)))``, in [0, 1]."""
        z = self.bias + sum([weight * features[name] for name, weight in self.weights.items()])
        return 1.0 / (1.0 + math.exp(-z)) if z >= 0 else 1.0 - 1.0 / (1.0 + math.exp(min(z, 700.0)))


@dataclass(frozen=True, slots=True)
class Calibration:
    """What was fitted for one embedding model.

    ``relevance`` is the probability that a chunk is about what is asked, ``answers`` that it answers; each is there for
    chunks that were not read and, as ``…_read``, for those that were. ``cosine`` is Platt's scaling of the raw cosine,
    for when no other feature is wanted.
    """

    embedding_model: str
    relevance: Logistic
    relevance_read: Logistic
    answers: Logistic
    answers_read: Logistic
    cosine: Logistic


def load_calibrations(path: Path | None = None) -> dict[str, Calibration]:
    """All calibrations of the file at *path*, or of the one that comes with the package, by embedding model.

    Raises `OSError` when the file cannot be read and `ValueError` when it is not a file of calibrations.
    """
    source = path or Path(__file__).with_name("relevance_model.json")
    data = json.loads(source.read_text(encoding="utf-8"))
    try:
        return {name: _calibration(name, entry) for name, entry in data["models"].items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{source} does not hold calibrations: {error!r}") from error


def calibration_for(embedding_model: str, calibrations: Mapping[str, Calibration]) -> Calibration:
    """The calibration of *embedding_model*; of an unknown one, the entry that trusts words alone.

    Raises `KeyError` when *calibrations* holds neither.
    """
    return calibrations.get(embedding_model) or calibrations[LEXICAL]


def cosine_relevance(similarity: float, calibration: Calibration) -> float:
    """Calibrated probability in [0, 1] that a chunk answers, from the cosine alone."""
    return calibration.cosine.probability({"chunk_similarity": similarity})


def _calibration(name: str, entry: Mapping[str, object]) -> Calibration:
    models = ("relevance", "relevance_read", "answers", "answers_read", "cosine")
    return Calibration(name, *(_logistic(entry[one]) for one in models))


def _logistic(entry: object) -> Logistic:
    if not isinstance(entry, dict):
        raise TypeError(f"a model must be an object, not {entry!r}")
    return Logistic(float(entry["bias"]), {str(k): float(v) for k, v in entry["weights"].items()})
