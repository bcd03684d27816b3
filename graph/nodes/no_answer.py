"""End a question that the documents do not answer."""

from __future__ import annotations

from graph.outputs import declined, failed
from graph.routes import why_no_answer
from graph.state import State
from graph.steps import Update


async def no_answer(state: State) -> Update:
    """Say that there is no answer, and by ``outcome`` why."""
    if failure := state.get("failure"):  # of ``cite``, which has no edge to ``fail`` (contract, Interface G)
        return failed(state, failure)
    return declined(state, why_no_answer(state))
