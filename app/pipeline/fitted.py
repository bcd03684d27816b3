"""Read what ``garden calibrate`` has fitted."""

from pathlib import Path

from pydantic import BaseModel

from app.pipeline.rerank_grader import ScoreScale
from graph.errors import ConfigurationError
from graph.relevance.calibration import Calibration

FITTED_FILE = "relevance_model.json"


class FittedModels(BaseModel):
    """Calibrations by embedding model, scales by reranker."""

    models: dict[str, Calibration]
    rerankers: dict[str, ScoreScale] = {}


def read_fitted(folder: Path) -> FittedModels:
    """Read the file in *folder*, if any. Raises ``ConfigurationError`` when it is unreadable."""
    path = folder / FITTED_FILE
    try:
        return FittedModels.model_validate_json(path.read_bytes()) if path.is_file() else FittedModels(models={})
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path} cannot be read: remove it, or run garden calibrate again") from error
