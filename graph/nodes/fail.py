"""The end for a question that could not be worked on: the input is invalid, or a part failed."""

from __future__ import annotations

from graph.outputs import failed
from graph.state import State
from graph.steps import Update


async def fail(state: State) -> Update:
    """Leave no answer, and the failure's own outcome."""
    return failed(state, state["failure"])
