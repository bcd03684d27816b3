"""The nearest chunks for each part of the question."""

from __future__ import annotations

from graph.ports import Retriever
from graph.state import Chunk, State
from graph.steps import Update


async def retrieve(state: State, *, retriever: Retriever) -> Update:
    """Fill ``readings``, and ``chunks``: what was retrieved, at most ``max_sources``, best first.

    ``readings`` hold the whole pool: grading weighs a chunk against its rivals, so it sees more than it may pass on.
    """
    question = state["question"]
    found = await retriever.retrieve(question)
    best: dict[str, Chunk] = {}
    for rank in range(max((len(reading.chunks) for reading in found.subquery_results), default=0)):
        for reading in found.subquery_results:
            if rank < len(reading.chunks):
                best.setdefault(reading.chunks[rank].chunk_id, reading.chunks[rank])
    return {
        "subquery_results": list(found.subquery_results),
        "chunks": list(best.values())[: question.max_sources],
    }
