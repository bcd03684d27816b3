"""Find the chunks that are about what is asked."""

from dataclasses import replace
from itertools import zip_longest

from langgraph.config import get_stream_writer

from answering.relevance.features import read_best
from answering.relevance.graders import assess
from answering.types import Chunk
from graph.ports import Ports, Retriever
from graph.state import Context, State, Update


async def retrieve(state: State, _: Context, *, retriever: Retriever) -> Update:
    """Fill ``subquery_results``, and ``chunks``: what was retrieved, at most ``max_sources``, best first.

    ``subquery_results`` hold all candidates: grading sees more of them than it passes on.
    """
    retrieved = await retriever.retrieve(state["question"])
    best: dict[str, Chunk] = {}
    for rank in zip_longest(*(results.chunks for results in retrieved)):
        for chunk in filter(None, rank):
            best.setdefault(chunk.chunk_id, chunk)
    chunks = list(best.values())[: state["question"].max_sources]
    return {"subquery_results": list(retrieved), "chunks": chunks}


async def grade(state: State, _: Context, *, ports: Ports) -> Update:
    """Fill ``graded`` with the chunks that reach the relevance threshold; stream all graded ones.

    At most ``max_sources``, by grade. The reader, if any, reads the best first, until one answers, or all; then all are
    assessed by the calibration, if any. ``subquery_results`` keep what was found of those that passed. The chunks whose
    rows are counted pass too: the answer cites each row.
    """
    question, results = state["question"], state["subquery_results"]
    if ports.reader:
        reads_all = ports.reads_all is not None and ports.reads_all()
        results = list(await read_best(ports.reader, results, every=reads_all))
    if ports.calibration:
        results = [assess(part, ports.calibration) for part in results]
    chunks = (await ports.grader.grade(question, results))[: question.max_sources]
    get_stream_writer()({"retrieval": chunks})
    passed = [chunk for chunk in chunks if (chunk.relevance or 0.0) >= question.relevance_threshold]
    counted = [rows.chunk for part in results for rows in part.counted]
    first = {chunk.chunk_id: chunk for chunk in counted}
    passed = [*(first | {chunk.chunk_id: chunk for chunk in passed}).values()][: question.max_sources]
    ids = {chunk.chunk_id for chunk in passed}
    kept = [replace(part, chunks=tuple(chunk for chunk in part.chunks if chunk.chunk_id in ids)) for part in results]
    return {"chunks": chunks, "graded": passed, "subquery_results": kept}
