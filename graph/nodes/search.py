"""From what was asked to the chunks that are about it: validate, by the rules of the Query API, retrieve, and grade."""

import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from itertools import chain, zip_longest
from typing import Any

from langgraph.config import get_stream_writer

from answering.questions.compound import asked_in, split_questions, without_background
from answering.questions.follow_up import added_stems, carry_subject, is_follow_up, is_remark
from answering.relevance.features import read_best
from answering.relevance.graders import assess
from answering.text.terms import words
from answering.types import Chunk, Question
from graph.errors import InvalidInput, SynthesisFailed
from graph.policy import MAX_SOURCES, MAX_TOKENS, Policy, bounded_int
from graph.ports import Ports, Retriever, Rewriter
from graph.state import Context, State, Update

MAX_ASKED = 12
"""Questions before this one that are read where a caller gives them: enough to complete the last three."""
MAX_EARLIER = 3
"""Earlier questions that are kept on a thread: a follow-up seldom goes back further."""
MAX_FILTERS, MAX_VALUES = 20, 100
"""Most fields of a filter, and most values of one field."""
LEAST_INTEGER, GREATEST_INTEGER = -(2**63), 2**64 - 1
"""What JSON readers and stores take for an integer."""
REWRITING_SHARE = 1 / 3
"""Share of a question's time that the chat model has to complete a follow-up: the rest is for the answer."""
log = logging.getLogger("garden.graph")


async def validate(state: State, context: Context, *, policy: Policy, rewriter: Rewriter | None) -> Update:
    """Turn the input into a ``Question``. Raises ``InvalidInput``, naming the field.

    A follow-up on a thread is rewritten; ``rewritten`` is streamed, and ``history`` continued.
    """
    attribution = context.attribution or policy.attribution
    question = replace(question_of(state, policy), attribution=attribution)
    earlier = state.get("history") or completed(state.get("earlierQuestions"), policy.max_query_chars)
    update: Update = {}
    asking = asked_in(question.text)
    if earlier and is_follow_up(asking):
        rewritten = await _rewritten(asking, earlier, rewriter, question.deadline)
        if rewritten != question.text and len(rewritten) <= policy.max_query_chars:
            sub_questions, added = split_questions(rewritten), added_stems(asking, rewritten, earlier)
            question = replace(question, text=rewritten, sub_questions=sub_questions, background=False, added=added)
            get_stream_writer()({"rewritten": rewritten})
            update["rewritten"] = rewritten
    asks = "?" in question.text or not is_remark(question.text)
    standalone = [without_background(question.text)] if asks else []
    return {**update, "question": question, "history": [*earlier, *standalone][-MAX_EARLIER:]}


async def retrieve(state: State, _: Context, *, retriever: Retriever) -> Update:
    """Fill ``subquery_results``, and ``chunks``: what was retrieved, at most ``max_sources``, best first.

    ``subquery_results`` hold all candidates: grading sees more of them than it passes on.
    """
    retrieved = await retriever.retrieve(state["question"])
    best: dict[str, Chunk] = {}
    for rank in zip_longest(*(results.chunks for results in retrieved)):
        for chunk in filter(None, rank):
            best.setdefault(chunk.chunk_id, chunk)
    chunks = list(best.values())[: state["question"].max_sources]
    return {"subquery_results": list(retrieved), "chunks": chunks}


async def grade(state: State, _: Context, *, ports: Ports) -> Update:
    """Fill ``graded`` with the chunks that reach the relevance threshold; stream all graded ones.

    At most ``max_sources``, by grade. The reader, if any, reads the best first, until one answers; then all are
    assessed by the calibration, if any. ``subquery_results`` keep what was found of those that passed. The chunks whose
    rows are counted or compared, or whose section is asked for, pass too: the answer cites each sentence.
    """
    question, results = state["question"], state["subquery_results"]
    if ports.reader:
        results = list(await read_best(ports.reader, results))
    if ports.calibration:
        results = [assess(part, ports.calibration) for part in results]
    chunks = (await ports.grader.grade(question, results))[: question.max_sources]
    get_stream_writer()({"retrieval": chunks})
    passed = [chunk for chunk in chunks if (chunk.relevance or 0.0) >= question.relevance_threshold]
    found = [sentences.chunk for part in results for sentences in (*part.counted, *part.looked_up)]
    first = {chunk.chunk_id: chunk for chunk in found}
    passed = [*(first | {chunk.chunk_id: chunk for chunk in passed}).values()][: question.max_sources]
    ids = {chunk.chunk_id for chunk in passed}
    kept = [replace(part, chunks=tuple(chunk for chunk in part.chunks if chunk.chunk_id in ids)) for part in results]
    return {"chunks": chunks, "graded": passed, "subquery_results": kept}


def question_of(raw: Mapping[str, Any], policy: Policy) -> Question:
    """Check *raw* (the fields of ``Input``) and return the ``Question``.

    ``None`` counts as absent. Lengths are Unicode code points after trimming (contract, Interface Q).
    """
    text = query_text(raw.get("query"), policy.max_query_chars)
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
        where=scope(raw.get("source"), raw.get("filters")),
        started=now,
        deadline=now + policy.request_timeout,
        relevance_threshold=policy.relevance_threshold,
        min_confidence=policy.min_confidence,
        background=bare != text,
        collection=raw.get("collection"),
    )


def query_text(value: object, most: int, field: str = "query") -> str:
    """Trim *value*, a string of 1 to *most* code points. Raises ``InvalidInput`` for *field*."""
    message = f"Query must be non-blank and at most {most} characters."
    if not isinstance(value, str):
        raise InvalidInput(message if value is None else "Query must be a string.", field)
    text = value.strip()
    if not text or len(text) > most:
        raise InvalidInput(message, field)
    if not is_unicode(text):
        raise InvalidInput("Query must be valid Unicode text.", field)
    return text


def is_unicode(text: str) -> bool:
    """Tell whether *text* can be stored and sent: it has no unpaired surrogate."""
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def scope(source: object, filters: object) -> dict[str, Any] | None:
    """Join ``source`` and ``filters`` of a question to one filter; None for neither. Raises ``InvalidInput``."""
    where: dict[str, Any] = {}
    if filters is not None:
        if not isinstance(filters, dict) or not all(isinstance(name, str) and name.strip() for name in filters):
            raise InvalidInput("filters must be an object of metadata fields.", "filters")
        where = {name: value for name, value in filters.items() if value is not None}
        lists = [value for value in where.values() if isinstance(value, list)]
        if len(where) > MAX_FILTERS or not all(0 < len(values) <= MAX_VALUES for values in lists):
            raise InvalidInput(
                f"filters may name at most {MAX_FILTERS} fields, with 1 to {MAX_VALUES} values each.", "filters"
            )
        singles = [value for value in where.values() if not isinstance(value, list)]
        if any("\0" in name for name in where) or not all(map(_is_plain, [*where, *singles, *chain(*lists)])):
            raise InvalidInput("filters must hold valid Unicode text and integers of at most 64 bits.", "filters")
    if source is not None:
        names = source if isinstance(source, list) else [source]
        if not 0 < len(names) <= MAX_VALUES or not all(isinstance(name, str) and name.strip() for name in names):
            raise InvalidInput(f"source must be a non-blank string, or a list of 1 to {MAX_VALUES}.", "source")
        if not all(map(is_unicode, names)):
            raise InvalidInput("source must be valid Unicode text.", "source")
        if "source" in where:
            raise InvalidInput("source must not be given twice, beside filters and in them.", "source")
        where["source"] = source
    return where or None


def _is_plain(value: object) -> bool:
    """Tell whether a store can compare with *value*, if it is a text or an integer."""
    if isinstance(value, str):
        return is_unicode(value)
    return not isinstance(value, int) or LEAST_INTEGER <= value <= GREATEST_INTEGER


def completed(asked: object, most_chars: int) -> list[str]:
    """Complete each of *asked*, the questions of a conversation, from those before it; leave out what asks nothing.

    What is longer than *most_chars*, or no valid text, was no question of this service. Raises ``InvalidInput``
    unless it is a list of strings, or None.
    """
    if asked is not None and not (isinstance(asked, list) and all(isinstance(text, str) for text in asked)):
        raise InvalidInput("earlierQuestions must be a list of strings.", "earlierQuestions")
    complete: list[str] = []
    for text in (asked or [])[-MAX_ASKED:]:
        if not words(text) or len(text) > most_chars or not is_unicode(text) or is_remark(text):
            continue
        asking = asked_in(text)
        follows = bool(complete) and is_follow_up(asking)
        complete.append(carry_subject(asking, complete[-1]) if follows else without_background(text))
    return complete[-MAX_EARLIER:]


async def _rewritten(follow_up: str, earlier: list[str], rewriter: Rewriter | None, deadline: float) -> str:
    """Complete *follow_up* by the chat model; where it fails, by the earlier question's words."""
    if rewriter:
        now = time.monotonic()
        try:
            return await rewriter.rewrite(follow_up, earlier, now + REWRITING_SHARE * (deadline - now))
        except SynthesisFailed as error:
            log.warning("rewriting_failed", extra={"failed": type(error).__name__, "reason": error.message})
    return carry_subject(follow_up, earlier[-1])
