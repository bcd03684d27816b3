"""Choose the next node from the state. LangGraph draws the edges from the names in the return types.

The functions are coroutines because LangGraph runs plain functions in a thread.
"""

from __future__ import annotations

from typing import Literal

from graph.errors import Outcome
from graph.state import State


async def after_validate(state: State) -> Literal["retrieve", "fail"]:
    """End an invalid question."""
    return "fail" if state.get("failure") else "retrieve"


async def after_retrieve(state: State) -> Literal["grade", "no_answer", "fail"]:
    """Report an outage as a failure, and an empty collection as no answer."""
    if state.get("failure"):
        return "fail"
    return "grade" if state["chunks"] else "no_answer"


async def after_grade(state: State) -> Literal["synthesize", "no_answer", "fail"]:
    """Answer only from chunks that reach the relevance threshold."""
    if state.get("failure"):
        return "fail"
    return "synthesize" if state["graded"] else "no_answer"


async def after_synthesize(state: State) -> Literal["cite", "no_answer", "fail"]:
    """Treat a draft without text as no answer."""
    if state.get("failure"):
        return "fail"
    return "cite" if state["draft"].text.strip() else "no_answer"


async def after_cite(state: State) -> Literal["no_answer", "__end__"]:
    """Treat an answer without a verified citation, or below the required confidence, as no answer."""
    return "__end__" if state.get("outcome") == "answered" else "no_answer"


def why_no_answer(state: State) -> Outcome:
    """Return the outcome of a question that ends in ``no_answer``, from how far it came."""
    if not state.get("graded"):
        return "no_relevant_chunks"
    draft = state["draft"]
    if not draft.text.strip():
        return "no_citations" if draft.confidence is None else "low_confidence"
    return state["outcome"]
