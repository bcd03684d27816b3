"""The question and its options, checked against the rules of door Q, whichever door they came through."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from graph.errors import InvalidInput
from graph.policy import MAX_SOURCES, MAX_TOKENS, Policy
from graph.relevance.compound import question_parts
from graph.state import Question, State
from graph.steps import Update


async def validate(state: State, *, policy: Policy) -> Update:
    """Turn the input into a ``Question``. Raises ``InvalidInput``, naming the field."""
    return {"question": question_of(state, policy)}


def question_of(raw: Mapping[str, Any], policy: Policy) -> Question:
    """Check *raw* (``query``, ``maxSources``, ``maxTokens``, ``source``) and return the ``Question``.

    ``None`` counts as absent. Lengths are Unicode code points after trimming (contract, Door Q).
    """
    text = _query(raw.get("query"), policy.max_query_chars)
    source = raw.get("source")
    if source is not None and (not isinstance(source, str) or not source.strip()):
        raise InvalidInput("source must be a non-blank string.", "source")
    now = time.monotonic()
    return Question(
        text=text,
        parts=question_parts(text),
        max_sources=_whole("maxSources", raw.get("maxSources"), MAX_SOURCES) or policy.default_max_sources,
        max_tokens=_whole("maxTokens", raw.get("maxTokens"), MAX_TOKENS),
        source=source,
        started=now,
        deadline=now + policy.request_timeout,
    )


def _query(value: object, most: int) -> str:
    message = f"Query must be non-blank and at most {most} characters."
    if not isinstance(value, str):
        raise InvalidInput(message if value is None else "Query must be a string.", "query")
    text = value.strip()
    if not text or len(text) > most:
        raise InvalidInput(message, "query")
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InvalidInput("Query must be valid Unicode text.", "query")
    return text


def _whole(field: str, value: object, most: int) -> int | None:
    """A strict integer in 1..*most*, or None when absent; ``True`` and ``5.0`` are no integers here."""
    if value is None:
        return None
    if type(value) is not int or not 1 <= value <= most:
        raise InvalidInput(f"{field} must be an integer from 1 to {most}.", field)
    return value
