"""The answer, written from the chunks that passed and from nothing else."""

from __future__ import annotations

from langgraph.config import get_stream_writer

from graph.citing.live import LiveMarkers
from graph.ports import Retrieved, Synthesizer
from graph.state import State
from graph.steps import Update


async def synthesize(state: State, *, synthesizer: Synthesizer) -> Update:
    """Fill ``draft``; the text is streamed as it comes, its markers held back until they are whole."""
    write = get_stream_writer()
    live = LiveMarkers(state["graded"])

    async def emit(text: str) -> None:
        if shown := live.feed(text):
            write({"token": shown})

    retrieved = Retrieved(tuple(state["readings"]))
    draft = await synthesizer.synthesize(state["question"], state["graded"], retrieved, emit)
    if rest := live.close():
        write({"token": rest})
    return {"draft": draft}
