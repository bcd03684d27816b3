"""The answer, written from the chunks that passed and from nothing else."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from graph.citing.marker_stream import LiveMarkers
from graph.ports import Retrieved, Synthesizer, null_sink, null_writer
from graph.state import State
from graph.steps import Update


async def synthesize(state: State, runtime: Runtime[Any], *, synthesizer: Synthesizer) -> Update:
    """Fill ``draft``; the text is streamed as it comes, its markers held back until they are whole."""
    retrieved = Retrieved(tuple(state["subquery_results"]))
    write = runtime.stream_writer
    if write is null_writer:
        return {"draft": await synthesizer.synthesize(state["question"], state["graded"], retrieved, null_sink)}
    live = LiveMarkers(state["graded"])

    async def emit(text: str) -> None:
        if shown := live.feed(text):
            write({"token": shown})

    draft = await synthesizer.synthesize(state["question"], state["graded"], retrieved, emit)
    if rest := live.close():
        write({"token": rest})
    return {"draft": draft}
