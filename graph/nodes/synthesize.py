"""Write the answer from the chunks that passed, and from nothing else."""

from langgraph.config import get_stream_writer

from graph.ports import Synthesizer
from graph.state import Context, State, Update


async def synthesize(state: State, context: Context, *, synthesizer: Synthesizer) -> Update:
    """Fill ``draft``; stream its text in pieces where the run is streamed."""
    write = get_stream_writer()

    async def emit(text: str) -> None:
        write({"token": text})

    callback = emit if context.stream else None
    draft = await synthesizer.synthesize(state["question"], state["graded"], state["subquery_results"], callback)
    return {"draft": draft}
