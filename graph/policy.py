"""Bounds, thresholds and times of one graph, those of one run, and strict checks of single values.

A run's own settings come with LangGraph's run-time context: Studio shows them as a form, ``validate`` checks them. Only
who calls the graph itself can pass a context (Studio, the LangGraph SDK). The service passes none, so that no client of
its interfaces can lower a threshold.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Real
from typing import Annotated, Any, Literal, TypeGuard

from pydantic import Field
from typing_extensions import TypedDict

from graph.errors import InvalidInput

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


FIELDS: dict[str, tuple[str, int | None, str]] = {
    "relevance_threshold": ("relevance_threshold", None, "least relevance of a chunk that may answer"),
    "min_confidence_threshold": ("min_confidence", None, "least confidence of an answer that is given"),
    "max_sources": ("default_max_sources", MAX_SOURCES, "most chunks to answer from, if the input has no maxSources"),
    "max_tokens": ("default_max_tokens", MAX_TOKENS, "longest answer, if the input has no maxTokens"),
}
"""Setting -> its field of the policy, its upper bound (None: a number from 0 to 1), and its description."""


def form_of(policy: Policy) -> type[Any]:
    """Make the context's schema: every setting with its bounds, and what *policy* says as its default."""
    fields: dict[str, Any] = {}
    for name, (field, most, description) in FIELDS.items():
        least, kind = (0, float) if most is None else (1, int)
        default = getattr(policy, field)
        fields[name] = Annotated[kind, Field(default=default, ge=least, le=most or 1, description=description)]
    form = TypedDict("RunSettings", fields, total=False)  # type: ignore[misc]
    form.__doc__ = "Settings of this run alone."
    return form


def policy_of_run(policy: Policy, context: object) -> Policy:
    """Return *policy* with what the run's *context* sets. Ignores None and unknown keys.

    Raises ``InvalidInput`` naming the setting whose value is out of its bounds.
    """
    if context is None:
        return policy
    if not isinstance(context, Mapping):
        raise InvalidInput("The context must be an object.", "context")
    changes: dict[str, Any] = {}
    for name, (field, most, _) in FIELDS.items():
        if (value := context.get(name)) is not None:
            changes[field] = unit_float(value, name) if most is None else bounded_int(value, name, most)
    return replace(policy, **changes)


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


def strict_bool(value: object, field: str) -> bool:
    """Return true or false; None is false. Integers are rejected."""
    if not (value is None or isinstance(value, bool)):
        raise InvalidInput(f"{field} must be true or false.", field)
    return bool(value)
