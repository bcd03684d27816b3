"""Make the graphs that LangGraph Studio runs (``langgraph.json``), on the settings of the environment."""

import asyncio
from functools import cache
from typing import Any

from langgraph.graph.state import CompiledStateGraph

from app.api.chat_graph import build_chat_graph
from app.bootstrap.compose import build_container

open_container = cache(build_container)


async def make_graph() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the graph, made once per process, off the event loop; its runs return the whole state."""
    graph = (await asyncio.to_thread(open_container)).graph
    # LangGraph's server shows of each node only what is in the output: with the public keys alone, nothing of most.
    return graph.copy({"output_channels": graph.stream_channels_list})


async def make_chat_graph() -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the graph of messages over the same graph."""
    return build_chat_graph(await make_graph())
