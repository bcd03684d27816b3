"""Make the graph that LangGraph Studio runs (``langgraph.json``), on the settings of the environment."""

from __future__ import annotations

import asyncio
from functools import cache
from typing import Any

from langgraph.graph.state import CompiledStateGraph

from app.bootstrap.compose import Parts, make_parts, policy_of
from app.settings import load_settings
from graph.build import build_graph
from graph.state import State


async def make_graph() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the graph; made once a process, off the event loop, since it opens the store."""
    return (await asyncio.to_thread(open_graph))[0]


@cache
def open_graph() -> tuple[CompiledStateGraph[Any, Any, Any, Any], Parts]:
    """Make the graph and its parts."""
    settings = load_settings()
    parts = make_parts(settings)
    return build_graph(parts.ports, policy_of(settings), State), parts
