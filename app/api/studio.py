"""LangGraph Studio's way in (``langgraph.json``): the graph alone, on the settings of the environment.

Every key of the state is part of its output: Studio shows of a node only what the output has.
"""

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

_MAKING = threading.Lock()
"""Held while the graph is made: two first runs at once must not open the store twice."""


async def make_graph() -> CompiledStateGraph[Any, Any, Any, Any]:
    """The graph. Studio asks at every run; it is made once a process, off the event loop, since it opens the store."""
    return (await asyncio.to_thread(_once))[0]


async def forget_graph() -> None:
    """Close what the graph stands on; the next run makes it anew. For who asks in a process of their own."""
    _, parts = await asyncio.to_thread(_once)
    _made.cache_clear()
    await parts.store.aclose()


def _once() -> tuple[CompiledStateGraph[Any, Any, Any, Any], Parts]:
    with _MAKING:
        return _made()


@cache
def _made() -> tuple[CompiledStateGraph[Any, Any, Any, Any], Parts]:
    settings = load_settings()
    parts = make_parts(settings)
    return build_graph(parts.ports, policy_of(settings), State), parts
