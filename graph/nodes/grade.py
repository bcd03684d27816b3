"""Choose the retrieved chunks that are about what is asked."""

from collections.abc import Callable

from langgraph.config import get_stream_writer

from answering.relevance.features import MAX_PASSAGES, read_best
from answering.types import PassageReader
from graph.ports import Grader
from graph.state import Context, State, Update


async def grade(
    state: State, _: Context, *, grader: Grader, reader: PassageReader | None, reads_all: Callable[[], bool]
) -> Update:
    """Fill ``graded`` with the chunks that reach the relevance threshold; stream all graded ones.

    At most ``max_sources``, by grade. The *reader*, if any, reads the best first, until one answers, or all where
    *reads_all* says so; ``subquery_results`` hold its logits.
    """
    question, results = state["question"], state["subquery_results"]
    if reader:
        results = list(await read_best(reader, results, None if reads_all() else MAX_PASSAGES))
    chunks = (await grader.grade(question, results))[: question.max_sources]
    get_stream_writer()({"retrieval": chunks})
    passed = [chunk for chunk in chunks if (chunk.relevance or 0.0) >= question.relevance_threshold]
    return {"chunks": chunks, "graded": passed, "subquery_results": results}
