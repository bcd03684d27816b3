"""Choose the retrieved chunks that are about what is asked."""

from langgraph.config import get_stream_writer

from answering.relevance.features import read_best
from answering.types import PassageReader
from graph.ports import Grader
from graph.state import Context, State, Update


async def grade(
    state: State, _: Context, *, grader: Grader, reader: PassageReader | None, most_read: int | None
) -> Update:
    """Fill ``graded`` with the chunks that reach the relevance threshold; stream all graded ones.

    At most ``max_sources``, by grade. The *reader*, if any, reads the best first, at most *most_read* of them and until
    one answers; with None, all. ``subquery_results`` hold its logits.
    """
    question, results = state["question"], state["subquery_results"]
    if reader:
        results = list(await read_best(reader, results, most_read))
    chunks = (await grader.grade(question, results))[: question.max_sources]
    get_stream_writer()({"retrieval": chunks})
    passed = [chunk for chunk in chunks if (chunk.relevance or 0.0) >= question.relevance_threshold]
    return {"chunks": chunks, "graded": passed, "subquery_results": results}
