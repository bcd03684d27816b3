"""The rules of one graph that its owner may set: bounds, thresholds, time. Bound when the graph is built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MAX_SOURCES = 50
"""Upper bound of ``maxSources`` (contract, Door Q)."""

MAX_TOKENS = 4096
"""Upper bound of ``maxTokens`` (contract, Door Q)."""


@dataclass(frozen=True, slots=True)
class Policy:
    """What a graph is built with. Times are in seconds, thresholds in [0, 1]."""

    relevance_threshold: float = 0.8
    min_confidence: float = 0.5
    max_query_chars: int = 2000
    default_max_sources: int = 10
    request_timeout: float = 30.0
    attribution: Literal["model", "verified"] = "model"
