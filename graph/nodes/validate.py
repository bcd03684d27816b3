"""Check the question and its options by the rules of the Query API."""

import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langgraph.config import get_stream_writer

from answering.questions.compound import asked_in, split_questions, without_background
from answering.questions.follow_up import added_stems, carry_subject, is_follow_up, is_remark
from graph.errors import InvalidInput, SynthesisFailed
from graph.policy import MAX_SOURCES, MAX_TOKENS, Policy, bounded_int
from graph.ports import Rewriter
from graph.state import Question, State, Update

MOST_EARLIER = 3
"""Earlier questions that are kept on a thread: a follow-up seldom goes back further."""
REWRITING_SHARE = 1 / 3
"""Share of a question's time that the chat model has to complete a follow-up: the rest is for the answer."""
log = logging.getLogger("garden.graph")


async def validate(state: State, *, policy: Policy, rewriter: Rewriter | None) -> Update:
    """Turn the input into a ``Question``. Raises ``InvalidInput``, naming the field.

    A follow-up on a thread is rewritten; ``rewritten`` is streamed, and ``history`` continued.
    """
    question, earlier = question_of(state, policy), state.get("history") or []
    update: Update = {}
    asking = asked_in(question.text)
    if earlier and is_follow_up(asking):
        rewritten = await _rewritten(asking, earlier, rewriter, question.deadline)
        if rewritten != question.text and len(rewritten) <= policy.max_query_chars:
            sub_questions, added = split_questions(rewritten), added_stems(asking, rewritten, earlier)
            question = replace(question, text=rewritten, sub_questions=sub_questions, background=False, added=added)
            get_stream_writer()({"rewritten": rewritten})
            update["rewritten"] = rewritten
    standalone = [] if is_remark(question.text) else [without_background(question.text)]
    return {**update, "question": question, "history": [*earlier, *standalone][-MOST_EARLIER:]}


async def _rewritten(follow_up: str, earlier: list[str], rewriter: Rewriter | None, deadline: float) -> str:
    """Complete *follow_up* by the chat model; where it fails, by the earlier question's words."""
    if rewriter:
        now = time.monotonic()
        try:
            return await rewriter.rewrite(follow_up, earlier, now + REWRITING_SHARE * (deadline - now))
        except SynthesisFailed as error:
            log.warning("rewriting_failed", extra={"failed": type(error).__name__, "reason": error.message})
    return carry_subject(follow_up, earlier[-1])


def question_of(raw: Mapping[str, Any], policy: Policy) -> Question:
    """Check *raw* (``query``, ``maxSources``, ``maxTokens``, ``source``) and return the ``Question``.

    ``None`` counts as absent. Lengths are Unicode code points after trimming (contract, Interface Q).
    """
    text = query_text(raw.get("query"), policy.max_query_chars)
    source = raw.get("source")
    if source is not None and (not isinstance(source, str) or not source.strip()):
        raise InvalidInput("source must be a non-blank string.", "source")
    bounds = {"maxSources": MAX_SOURCES, "maxTokens": MAX_TOKENS}
    limits = {
        field: bounded_int(raw[field], field, most) for field, most in bounds.items() if raw.get(field) is not None
    }
    bare = without_background(text)
    now = time.monotonic()
    return Question(
        text=text,
        sub_questions=split_questions(bare),
        max_sources=limits.get("maxSources", policy.default_max_sources),
        max_tokens=limits.get("maxTokens", policy.default_max_tokens),
        source=source,
        started=now,
        deadline=now + policy.request_timeout,
        relevance_threshold=policy.relevance_threshold,
        min_confidence=policy.min_confidence,
        background=bare != text,
    )


def query_text(value: object, most: int, field: str = "query") -> str:
    """Trim *value*, a string of 1 to *most* code points. Raises ``InvalidInput`` for *field*."""
    message = f"Query must be non-blank and at most {most} characters."
    if not isinstance(value, str):
        raise InvalidInput(message if value is None else "Query must be a string.", field)
    text = value.strip()
    if not text or len(text) > most:
        raise InvalidInput(message, field)
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InvalidInput("Query must be valid Unicode text.", field)
    return text
