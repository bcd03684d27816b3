"""Make the grader, the synthesizer and the reader that the settings name."""

from __future__ import annotations

import logging

from app.pipeline.rerank_grader import RerankGrader, ScoreScale, load_scale
from app.providers.embeddings.weights import find_weights
from app.providers.rerank.models import RERANK_SECONDS, make_reranker
from app.providers.rerank.reader import OnnxReader
from app.settings import Settings
from graph.errors import ConfigurationError
from graph.ports import Grader, Synthesizer
from graph.relevance.calibration import Calibration
from graph.relevance.extractive import ExtractiveSynthesizer
from graph.relevance.graders import CosineGrader, LocalGrader

EXTRACTIVE = "extractive"

log = logging.getLogger("garden.reader")


def make_grader(settings: Settings, calibration: Calibration) -> Grader:
    """Make the grader that ``RERANKER`` names. Raises ``ConfigurationError``."""
    if settings.reranking == "none":
        return CosineGrader(calibration)
    if settings.reranking == "local":
        return LocalGrader(calibration)
    return make_rerank_grader(settings, load_scale(settings.data_dir / "relevance_model.json", settings.reranking))


def make_rerank_grader(settings: Settings, scale: ScoreScale) -> RerankGrader:
    """Make the grader over the reranker that ``RERANKER`` names. Raises ``ConfigurationError``."""
    # A reranker on one's own machine may need the whole request's time; Cohere does not.
    seconds = RERANK_SECONDS if settings.reranking.startswith("cohere:") else settings.request_timeout_seconds
    return RerankGrader(make_reranker(settings), scale, seconds=seconds)


def make_synthesizer(settings: Settings, calibration: Calibration) -> Synthesizer:
    """Make the synthesizer that ``CHAT_MODEL`` names. Raises ``ConfigurationError``."""
    if settings.chat == EXTRACTIVE:
        # Where the local relevance graded the chunks, it grades them for each part of a compound question too.
        return ExtractiveSynthesizer(calibration, each_part=settings.reranking == "local")
    from app.pipeline.chat_synthesizer import ChatSynthesizer
    from app.providers.chat.models import make_chat_model

    return ChatSynthesizer(make_chat_model(settings))


def make_reader() -> OnnxReader | None:
    """Load the reader; None without the weights of all-MiniLM-L6-v2. Raises ``ConfigurationError`` for damaged ones."""
    try:
        find_weights()
    except ConfigurationError as error:
        log.warning("reader_unavailable", extra={"error": str(error)})
        return None
    return OnnxReader()
