"""End a question that the documents do not answer, or that could not be processed."""

from __future__ import annotations

from graph.errors import Outcome
from graph.outputs import declined, failed
from graph.state import State, Update


async def no_answer(state: State) -> Update:
    """Say that there is no answer, and by ``outcome`` why."""
    if failure := state.get("failure"):  # of ``cite``, which has no edge to ``fail`` (contract, Interface G)
        return failed(state, failure)
    return declined(state, _why(state))


async def fail(state: State) -> Update:
    """Leave no answer, and the failure's own outcome."""
    return failed(state, state["failure"])


def _why(state: State) -> Outcome:
    """Return the outcome of a question without an answer, from how far it came."""
    if not state.get("graded"):
        return "no_relevant_chunks"
    draft = state["draft"]
    if not draft.text.strip():
        return "no_citations" if draft.confidence is None else "low_confidence"
    return state["outcome"]
