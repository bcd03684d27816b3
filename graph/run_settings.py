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
            float,
            Field(
                title="relevance_threshold",
                description="gate one: least relevance of a chunk that may answer",
                ge=0,
                le=1,
                default=policy.relevance_threshold,
            ),
        ]
        min_confidence_threshold: Annotated[
            float,
            Field(
                title="min_confidence_threshold",
                description="least confidence of an answer that is given",
                ge=0,
                le=1,
                default=policy.min_confidence,
            ),
        ]
        max_sources: Annotated[
            int,
            Field(
                title="max_sources",
                description="most chunks to answer from, where the input does not say maxSources",
                ge=1,
                le=MAX_SOURCES,
                default=policy.default_max_sources,
            ),
        ]
        max_tokens: Annotated[
            int,
            Field(
                title="max_tokens",
                description="longest answer of a chat model, where the input does not say maxTokens",
                ge=1,
                le=MAX_TOKENS,
                default=policy.default_max_tokens,
            ),
        ]

    return RunSettings


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
