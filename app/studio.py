"""LangGraph Studio's way in (``langgraph.json``): the graph alone, on the settings of the environment.

Every key of the state is part of its output: Studio shows of a node only what the output has.
"""

from __future__ import annotations

import asyncio
import threading
from functools import cache
from typing import Any

from langgraph.graph.state import CompiledStateGraph

from app.bootstrap import make_parts, policy_of
from app.settings import load_settings
from graph.build import build_graph
from graph.state import State

_MAKING = threading.Lock()
"""Held while the graph is made: two first runs at once must not open the store twice."""


async def make_graph() -> CompiledStateGraph[Any, Any, Any, Any]:
    """The graph. Studio asks at every run; it is made once a process, off the event loop, since it opens the store."""
    return await asyncio.to_thread(_once)


def _once() -> CompiledStateGraph[Any, Any, Any, Any]:
    with _MAKING:
        return _graph()


@cache
def _graph() -> CompiledStateGraph[Any, Any, Any, Any]:
    settings = load_settings()
    return build_graph(make_parts(settings).ports, policy_of(settings), State)
