"""Which of the retrieved chunks are about what is asked, and what the reader finds in the best of them."""

from __future__ import annotations

from typing import Any

from langgraph.runtime import Runtime

from graph.ports import Grader, PassageReader, Retrieved
from graph.relevance.reading import read_best
from graph.state import State
from graph.steps import Update


async def grade(state: State, runtime: Runtime[Any], *, grader: Grader, reader: PassageReader | None = None) -> Update:
    """Fill ``graded`` with the chunks at or above the relevance threshold, best first; announce what was found.

    At most ``max_sources`` of them go on: a chunk that retrieval ranked lower may pass when it grades higher. The
    reader, where there is one, reads the best of them first; ``readings`` then say what it found.
    """
    question = state["question"]
    retrieved = Retrieved(tuple(state["subquery_results"]))
    if reader:
        retrieved = Retrieved(await read_best(reader, retrieved.subquery_results))
    chunks = (await grader.grade(question, retrieved))[: question.max_sources]
    runtime.stream_writer({"retrieval": chunks})
    passed = [chunk for chunk in chunks if (chunk.relevance or 0.0) >= question.relevance_threshold]
    return {"chunks": chunks, "graded": passed, "subquery_results": list(retrieved.subquery_results)}
