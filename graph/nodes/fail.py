"""End a question that could not be processed: its input is invalid, or a component failed."""

from __future__ import annotations

from graph.outputs import failed
from graph.state import State
from graph.steps import Update


async def fail(state: State) -> Update:
    """Leave no answer, and the failure's own outcome."""
    return failed(state, state["failure"])
