"""Bounds, thresholds and times of one graph, and strict checks of single values."""

from dataclasses import dataclass
from numbers import Real
from typing import Literal, TypeGuard

from answering.types import MIN_CONFIDENCE, RELEVANCE_THRESHOLD
from graph.errors import InvalidInput

MAX_SOURCES = 50
"""Upper bound of ``maxSources`` (contract, Interface Q)."""
MAX_TOKENS = 4096
"""Upper bound of ``maxTokens`` (contract, Interface Q)."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The rules of one graph. Times are in seconds, thresholds in [0, 1]."""

    relevance_threshold: float = RELEVANCE_THRESHOLD
    min_confidence: float = MIN_CONFIDENCE
    max_query_chars: int = 2000
    default_max_sources: int = 10
    default_max_tokens: int = 500
    request_timeout: float = 30.0
    attribution: Literal["model", "verified"] = "verified"


def bounded_int(value: object, field: str, most: int) -> int:
    """Return an integer from 1 to *most*. Booleans and floats are rejected."""
    if type(value) is not int or not 1 <= value <= most:
        raise InvalidInput(f"{field} must be an integer from 1 to {most}.", field)
    return value


def unit_float(value: object, field: str) -> float:
    """Return a number in [0, 1] as a float. Booleans are rejected."""
    if not is_number(value) or not 0.0 <= float(value) <= 1.0:
        raise InvalidInput(f"{field} must be a number from 0 to 1.", field)
    return float(value)


def is_number(value: object) -> TypeGuard[Real]:
    """Whether *value* is a real number, numpy's included. Booleans are rejected."""
    return isinstance(value, Real) and not isinstance(value, bool)
