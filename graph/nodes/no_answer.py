"""The end for a question the documents do not answer. Nothing is broken here."""

from __future__ import annotations

from graph.outputs import declined
from graph.routes import why_no_answer
from graph.state import State
from graph.steps import Update


async def no_answer(state: State) -> Update:
    """Say plainly that there is no answer, and by ``outcome`` why."""
    return declined(state, why_no_answer(state))
