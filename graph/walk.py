"""The same plan walked without LangGraph's loop, for runs that need nothing of it.

LangGraph runs nodes side by side, stops and resumes, and tells tracers of every step. For that it takes 1.4 to 2.5 ms
of processor time for the five nodes of a question (``bench/NOTES.md``). This graph is a way without side ways: one node
at a time, and each names the next. So where nothing listens but who asked, the same nodes are called by the same routes
here. ``tests/test_graph_ways.py`` holds both against each other, end by end.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Annotated, Any, NotRequired, cast, get_args, get_origin, get_type_hints

from langchain_core.callbacks import AsyncCallbackManager
from langchain_core.runnables.config import var_child_runnable_config
from langgraph.graph import END
from langgraph.runtime import Runtime

from graph.build import stops
from graph.policy import Policy
from graph.ports import Ports, nobody
from graph.state import State

_OVER = object()


def anybody_listens() -> bool:
    """Whether LangChain would tell anybody of a run: LangSmith, its debug output, a hook somebody registered."""
    return bool(AsyncCallbackManager.configure().handlers)


class Walk:
    """The graph of *ports* and *policy*, to be walked. Both methods raise what a node raises."""

    def __init__(self, ports: Ports, policy: Policy) -> None:
        way = stops(ports, policy)
        self._first = way[0].name
        self._stops = {stop.name: stop for stop in way}

    async def invoke(self, given: Mapping[str, Any]) -> State:
        """The last state of a run on *given*, of which nobody sees more."""
        return await self._go(given, Runtime(stream_writer=nobody))

    async def stream(self, given: Mapping[str, Any]) -> AsyncGenerator[tuple[str, Any]]:
        """``("custom", what a node writes)`` as it comes, and at the end ``("values", the last state)``.

        What LangGraph's ``astream`` yields for these two modes, but for the states in between.
        """
        written: asyncio.Queue[Any] = asyncio.Queue()
        going = asyncio.create_task(self._go(given, Runtime(stream_writer=written.put_nowait)))
        going.add_done_callback(lambda _: written.put_nowait(_OVER))
        try:
            while (content := await written.get()) is not _OVER:
                yield "custom", content
            yield "values", going.result()
        finally:
            going.cancel()
            await asyncio.wait([going])

    async def _go(self, given: Mapping[str, Any], runtime: Runtime[Any]) -> State:
        state, name = cast(State, dict(given)), self._first
        cut = var_child_runnable_config.set(None)  # whoever called may be told of its own steps, and of none in here
        try:
            while name != END:
                stop = self._stops[name]
                state = merged(state, await stop.node(state, runtime))
                name = stop.route(state) if stop.route else END
        finally:
            var_child_runnable_config.reset(cut)
        return state


def _reducers() -> dict[str, Callable[[Any, Any], Any]]:
    """Key -> how an update joins what is there, for the keys of ``State`` that say so."""
    found = {}
    for name, hint in get_type_hints(State, include_extras=True).items():
        inner = get_args(hint)[0] if get_origin(hint) is NotRequired else hint
        if get_origin(inner) is Annotated and not isinstance(inner.__metadata__[-1], type):
            found[name] = inner.__metadata__[-1]
    return found


_REDUCERS = _reducers()


def merged(state: State, update: Mapping[str, Any]) -> State:
    """*state* after a node's *update*, as LangGraph has it: reduced where the key has a reducer, else replaced."""
    there: Mapping[str, Any] = state
    joined = {key: join(there[key], update[key]) for key, join in _REDUCERS.items() if key in update and key in there}
    return cast(State, {**state, **update, **joined})
