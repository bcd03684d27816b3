"""Retrieve the nearest chunks for each sub-question."""

from itertools import zip_longest

from answering.types import Chunk
from graph.ports import Retriever
from graph.state import Context, State, Update


async def retrieve(state: State, _: Context, *, retriever: Retriever) -> Update:
    """Fill ``subquery_results``, and ``chunks``: what was retrieved, at most ``max_sources``, best first.

    ``subquery_results`` hold all candidates: grading sees more of them than it may pass on.
    """
    retrieved = await retriever.retrieve(state["question"])
    best: dict[str, Chunk] = {}
    for rank in zip_longest(*(results.chunks for results in retrieved)):
        for chunk in filter(None, rank):
            best.setdefault(chunk.chunk_id, chunk)
    chunks = list(best.values())[: state["question"].max_sources]
    return {"subquery_results": list(retrieved), "chunks": chunks}
