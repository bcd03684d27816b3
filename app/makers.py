"""Which grader and which synthesizer the settings name: the graph's ports over the providers' tables."""

from __future__ import annotations

from app.grading import CosineGrader, LocalGrader
from app.settings import Settings
from app.synthesis.extractive import ExtractiveSynthesizer
from graph.calibration import Calibration
from graph.ports import Grader, Synthesizer


def make_grader(settings: Settings, calibration: Calibration) -> Grader:
    """The grader that ``RERANKER`` names. Raises ``ConfigurationError``."""
    if settings.reranking == "none":
        return CosineGrader(calibration)
    return LocalGrader(calibration)


def make_synthesizer(settings: Settings, calibration: Calibration) -> Synthesizer:
    """The synthesizer that ``CHAT_MODEL`` names. Raises ``ConfigurationError``."""
    return ExtractiveSynthesizer(calibration)
