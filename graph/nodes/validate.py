"""The question and its options, checked against the rules of door Q, whichever door they came through."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from langgraph.runtime import Runtime

from graph.bounds import whole
from graph.errors import InvalidInput
from graph.policy import MAX_SOURCES, MAX_TOKENS, Policy
from graph.relevance.compound import question_parts
from graph.run_settings import policy_of_run
from graph.state import Question, State
from graph.steps import Update


async def validate(state: State, runtime: Runtime[Any], *, policy: Policy) -> Update:
    """Turn the input, and the run's own settings, into a ``Question``. Raises ``InvalidInput``, naming the field."""
    return {"question": question_of(state, policy_of_run(policy, runtime.context))}


def question_of(raw: Mapping[str, Any], policy: Policy) -> Question:
    """Check *raw* (``query``, ``maxSources``, ``maxTokens``, ``source``) and return the ``Question``.

    ``None`` counts as absent. Lengths are Unicode code points after trimming (contract, Door Q).
    """
    text = query_text(raw.get("query"), policy.max_query_chars)
    source = raw.get("source")
    if source is not None and (not isinstance(source, str) or not source.strip()):
        raise InvalidInput("source must be a non-blank string.", "source")
    now = time.monotonic()
    return Question(
        text=text,
        parts=question_parts(text),
        max_sources=_given(raw, "maxSources", MAX_SOURCES) or policy.default_max_sources,
        max_tokens=_given(raw, "maxTokens", MAX_TOKENS) or policy.default_max_tokens,
        source=source,
        started=now,
        deadline=now + policy.request_timeout,
        relevance_threshold=policy.relevance_threshold,
        min_confidence=policy.min_confidence,
    )


def query_text(value: object, most: int, field: str = "query") -> str:
    """*value* trimmed, when it is a string of 1 to *most* code points; else raises ``InvalidInput`` for *field*."""
    message = f"Query must be non-blank and at most {most} characters."
    if not isinstance(value, str):
        raise InvalidInput(message if value is None else "Query must be a string.", field)
    text = value.strip()
    if not text or len(text) > most:
        raise InvalidInput(message, field)
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InvalidInput("Query must be valid Unicode text.", field)
    return text


def _given(raw: Mapping[str, Any], field: str, most: int) -> int | None:
    value = raw.get(field)
    return None if value is None else whole(value, field, most)
