"""Write the playground's run log: each node as it ends, then the answer.

A node's entry is a summary in numbers, so that no document text leaks (contract, LangServe).
"""

from collections.abc import AsyncGenerator, Callable, Mapping, Sized
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from langchain_core.tracers.log_stream import LogEntry, RunLogPatch, RunState

from answering.types import Chunk
from app.api.query import in_own_task
from app.api.schemas import result_body
from app.query_service.service import QueryService

SUMMARIES: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "validate": lambda update: _count(update["question"].sub_questions, "sub-question"),
    "retrieve": lambda update: f"{_count(update['chunks'], 'chunk')} retrieved" + _best(update["chunks"], "similarity"),
    "grade": lambda update: (
        f"{len(update['graded'])} of {_count(update['chunks'], 'chunk')} passed" + _best(update["chunks"], "relevance")
    ),
    "synthesize": lambda update: f"a draft of {len(update['draft'].text)} characters",
    "cite": lambda update: f"{update['outcome']}, {_count(update['citations'], 'citation')}",
}


async def run_log(service: QueryService, fields: dict[str, Any]) -> AsyncGenerator[RunLogPatch]:
    """Ask the question of *fields*; yield the patches that build its run log."""
    start = RunState(id=str(uuid4()), streamed_output=[], final_output=None, name="question", type="chain", logs={})
    yield RunLogPatch({"op": "replace", "path": "", "value": start})
    async with aclosing(in_own_task(service.stream(fields, nodes=True))) as events:
        async for event in events:
            if event.kind == "node":
                entry = _entry(event.node, event.update)
                yield RunLogPatch({"op": "add", "path": f"/logs/{event.node}", "value": entry})
            elif event.result:
                body = result_body(event.result, evidence=fields["includeEvidence"] is True)
                yield RunLogPatch(
                    {"op": "add", "path": "/streamed_output/-", "value": body},
                    {"op": "replace", "path": "/final_output", "value": body},
                )


def _entry(node: str, update: Mapping[str, Any]) -> LogEntry:
    milliseconds = update["timings"][node]
    ended = datetime.now(UTC)
    if failure := update.get("failure"):
        summary = f"failed: {failure.error_type}"
    else:
        summary = SUMMARIES[node](update) if node in SUMMARIES else update.get("outcome", "done")
    return LogEntry(
        id=str(uuid4()),
        name=node,
        type="chain",
        tags=[],
        metadata={},
        start_time=(ended - timedelta(milliseconds=milliseconds)).isoformat(timespec="milliseconds"),
        end_time=ended.isoformat(timespec="milliseconds"),
        streamed_output=[],
        streamed_output_str=[],
        final_output=f"{summary} ({milliseconds:.1f} ms)",
    )


def _count(items: Sized, noun: str) -> str:
    return f"{len(items)} {noun}{'' if len(items) == 1 else 's'}"


def _best(chunks: list[Chunk], measure: str) -> str:
    return f", best {measure} {max(getattr(chunk, measure) or 0.0 for chunk in chunks):.2f}" if chunks else ""
