"""What one run may set for itself, by LangGraph's run-time context: Studio shows it as a form, ``validate`` checks it.

Only who calls the graph itself can give a context (Studio, the LangGraph SDK). The service gives none, and no door over
it passes one on, so a client can loosen no threshold.
"""

# No "from __future__ import annotations" here: the form's defaults are values of the policy that it is made for.

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Annotated, Any

from pydantic import Field
from typing_extensions import TypedDict

from graph.bounds import share, whole
from graph.errors import InvalidInput
from graph.policy import MAX_SOURCES, MAX_TOKENS, Policy

FIELDS: dict[str, tuple[str, Callable[[Any, str], Any]]] = {
    "relevance_threshold": ("relevance_threshold", share),
    "min_confidence_threshold": ("min_confidence", share),
    "max_sources": ("default_max_sources", partial(whole, most=MAX_SOURCES)),
    "max_tokens": ("default_max_tokens", partial(whole, most=MAX_TOKENS)),
}
"""Name of a setting -> the field of the policy it stands for, and the check of its value."""


def form_of(policy: Policy) -> type[Any]:
    """The context's schema: every setting of a run with its bounds, and what *policy* says as its default."""

    class RunSettings(TypedDict, total=False):
        """Settings of this run alone."""

        relevance_threshold: Annotated[
            float, _share(policy.relevance_threshold, "gate one: least relevance of a chunk that may answer")
        ]
        min_confidence_threshold: Annotated[
            float, _share(policy.min_confidence, "least confidence of an answer that is given")
        ]
        max_sources: Annotated[
            int,
            _whole(
                policy.default_max_sources, MAX_SOURCES, "most chunks to answer from, if the input has no maxSources"
            ),
        ]
        max_tokens: Annotated[
            int,
            _whole(policy.default_max_tokens, MAX_TOKENS, "longest answer of a model, if the input has no maxTokens"),
        ]

    return RunSettings


def _share(default: float, description: str) -> Any:
    return Field(default=default, ge=0, le=1, description=description)


def _whole(default: int, most: int, description: str) -> Any:
    return Field(default=default, ge=1, le=most, description=description)


def policy_of_run(policy: Policy, context: object) -> Policy:
    """*policy* with what the run's *context* sets; None there, and names nobody knows, set nothing.

    Raises ``InvalidInput`` naming the setting whose value is out of its bounds.
    """
    if context is None:
        return policy
    if not isinstance(context, Mapping):
        raise InvalidInput("The context must be an object.", "context")
    given = {name: context[name] for name in FIELDS if context.get(name) is not None}
    return replace(policy, **{FIELDS[name][0]: FIELDS[name][1](value, name) for name, value in given.items()})
