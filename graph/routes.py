"""Which way a state goes next. Each function reads the state and names the next node; nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from graph.errors import Outcome
from graph.state import State

Route = Callable[[State], str]


def after_validate(state: State) -> Literal["retrieve", "fail"]:
    """An invalid question goes no further."""
    return "fail" if state.get("failure") else "retrieve"


def after_retrieve(state: State) -> Literal["grade", "no_answer", "fail"]:
    """An outage is a failure; an empty collection has no answer."""
    if state.get("failure"):
        return "fail"
    return "grade" if state["chunks"] else "no_answer"


def after_grade(state: State) -> Literal["synthesize", "no_answer", "fail"]:
    """Only chunks that passed gate one are written from."""
    if state.get("failure"):
        return "fail"
    return "synthesize" if state["graded"] else "no_answer"


def after_synthesize(state: State) -> Literal["cite", "no_answer", "fail"]:
    """A draft without text is no answer."""
    if state.get("failure"):
        return "fail"
    return "cite" if state["draft"].text.strip() else "no_answer"


def after_cite(state: State) -> Literal["no_answer", "__end__"]:
    """An answer without one verified citation, or below the confidence asked for, is no answer."""
    return "__end__" if state.get("outcome") == "answered" else "no_answer"


def why_no_answer(state: State) -> Outcome:
    """The outcome of a question that ends in ``no_answer``, from how far it came."""
    if not state.get("graded"):
        return "no_relevant_chunks"
    draft = state["draft"]
    if not draft.text.strip():
        return "no_citations" if draft.confidence is None else "low_confidence"
    return state["outcome"]
