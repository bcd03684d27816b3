"""Bounds, thresholds and times of one graph, bound when it is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MAX_SOURCES = 50
"""Upper bound of ``maxSources`` (contract, Interface Q)."""

MAX_TOKENS = 4096
"""Upper bound of ``maxTokens`` (contract, Interface Q)."""

RELEVANCE_THRESHOLD = 0.8
"""Least relevance of a chunk that may answer (document Q, "Retrieval Strategy")."""

MIN_CONFIDENCE = 0.5
"""Least confidence of an answer that is given (document L, "Environment Variables")."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one graph. Times are in seconds, thresholds in [0, 1]."""

    relevance_threshold: float = RELEVANCE_THRESHOLD
    min_confidence: float = MIN_CONFIDENCE
    max_query_chars: int = 2000
    default_max_sources: int = 10
    default_max_tokens: int = 500
    request_timeout: float = 30.0
    attribution: Literal["model", "verified"] = "model"
