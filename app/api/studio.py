"""Make the graph that LangGraph Studio runs (``langgraph.json``), on the settings of the environment."""

from __future__ import annotations

import asyncio
import threading
from functools import cache
from typing import Any

from langgraph.graph.state import CompiledStateGraph

from app.bootstrap.compose import Parts, make_parts, policy_of
from app.settings import load_settings
from graph.build import build_graph
from graph.state import State

_LOCK = threading.Lock()
"""Two first runs at once must not open the store twice."""


async def make_graph() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the graph; made once a process, off the event loop, since it opens the store."""
    return (await asyncio.to_thread(open_graph))[0]


def open_graph() -> tuple[CompiledStateGraph[Any, Any, Any, Any], Parts]:
    """Return the graph and its parts, which the first call makes."""
    with _LOCK:
        return _made()


@cache
def _made() -> tuple[CompiledStateGraph[Any, Any, Any, Any], Parts]:
    settings = load_settings()
    parts = make_parts(settings)
    return build_graph(parts.ports, policy_of(settings), State), parts
