"""Gate one: which of the retrieved chunks are about what is asked."""

from __future__ import annotations

from langgraph.config import get_stream_writer

from graph.ports import Grader, Retrieved
from graph.state import State
from graph.steps import Update


async def grade(state: State, *, grader: Grader) -> Update:
    """Fill ``graded`` with the chunks at or above the relevance threshold, best first; announce what was found.

    At most ``max_sources`` of them go on: a chunk that retrieval ranked lower may pass when it grades higher.
    """
    question = state["question"]
    retrieved = Retrieved(tuple(state["readings"]))
    chunks = (await grader.grade(question, retrieved))[: question.max_sources]
    get_stream_writer()({"retrieval": chunks})
    passed = [chunk for chunk in chunks if (chunk.relevance or 0.0) >= question.relevance_threshold]
    return {"chunks": chunks, "graded": passed}
