"""Settings of one run, from LangGraph's run-time context: Studio shows them as a form, ``validate`` checks them.

Only who calls the graph itself can pass a context (Studio, the LangGraph SDK). The service passes none, so that no
client of its interfaces can lower a threshold.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from graph.bounds import bounded_int, unit_float
from graph.errors import InvalidInput
from graph.policy import MAX_SOURCES, MAX_TOKENS, Policy

FIELDS: dict[str, tuple[str, int | None, str]] = {
    "relevance_threshold": ("relevance_threshold", None, "least relevance of a chunk that may answer"),
    "min_confidence_threshold": ("min_confidence", None, "least confidence of an answer that is given"),
    "max_sources": ("default_max_sources", MAX_SOURCES, "most chunks to answer from, if the input has no maxSources"),
    "max_tokens": ("default_max_tokens", MAX_TOKENS, "longest answer of a model, if the input has no maxTokens"),
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
