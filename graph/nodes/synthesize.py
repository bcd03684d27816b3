"""Write the answer from the chunks that passed, and from nothing else."""

from langgraph.config import get_config, get_stream_writer

from answering.markers.marked_text import MarkerStream
from graph.ports import Synthesizer, discard
from graph.state import State, Update


async def synthesize(state: State, *, synthesizer: Synthesizer) -> Update:
    """Fill ``draft``; stream its text, holding back markers until they are complete.

    Nothing is streamed where the run's ``configurable`` has ``stream_tokens`` false: a model may answer in one piece.
    """
    write = get_stream_writer()
    markers = MarkerStream(state["graded"])

    async def emit(text: str) -> None:
        if shown := markers.feed(text):
            write({"token": shown})

    sink = emit if get_config()["configurable"].get("stream_tokens", True) else discard
    draft = await synthesizer.synthesize(state["question"], state["graded"], state["subquery_results"], sink)
    if rest := markers.close():
        write({"token": rest})
    return {"draft": draft}
