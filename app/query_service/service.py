"""The one caller of the graph: fields of a question in, a ``Result`` out.

Every door comes through here, so every door shares the places, the request id, the log line and the outcome.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph

from app.ops.request_id import current_request_id
from app.ops.traffic import questions_var
from graph.errors import Overloaded, RAGError
from graph.result import Event, Result
from graph.steps import failure_of

WAIT_FOR_PLACE = 0.5
"""Seconds a request waits for a place before it is turned away (contract, ``MAX_CONCURRENT_REQUESTS``: "briefly")."""

log = logging.getLogger("garden.service")
Observer = Callable[[Result], None]


class QueryService:
    """Run questions through the graph, concurrently on one event loop."""

    def __init__(
        self,
        graph: CompiledStateGraph[Any, Any, Any, Any],
        *,
        places: int,
        log_questions: bool = False,
        callbacks: Callable[[str], list[BaseCallbackHandler]] = lambda _: [],
        advice: Mapping[str, str] | None = None,
    ) -> None:
        """*callbacks* are told of one question's run; they get its request id. *advice* goes into a failure's line."""
        self._advice = advice or {}
        self._graph = graph
        self._callbacks = callbacks
        self.places = places
        self._places = asyncio.Semaphore(places)
        self._log_questions = log_questions
        self.observers: list[Observer] = []
        self.in_flight = 0

    async def ask(self, fields: Mapping[str, Any], request_id: str | None = None) -> Result:
        """Answer one question. A failure comes back as the ``Result``'s outcome, never as an exception of the tree."""
        request_id = request_id or current_request_id()
        begun = time.perf_counter()
        try:
            async with self.place():
                state = await self._graph.ainvoke(_input(fields, request_id), self._config(request_id))
        except RAGError as error:
            return self._done(_refused(error, request_id, begun), fields)
        return self._done(_result(state, request_id), fields)

    async def stream(self, fields: Mapping[str, Any], request_id: str | None = None) -> AsyncGenerator[Event]:
        """Answer one question as it comes: "retrieval" and "token" events, and always a "result" at the end."""
        request_id = request_id or current_request_id()
        begun = time.perf_counter()
        state: dict[str, Any] = {}
        try:
            run: Any = self._graph.astream(
                _input(fields, request_id), self._config(request_id), stream_mode=["custom", "values"]
            )
            async with self.place(), aclosing(run) as steps:
                async for mode, content in steps:
                    if mode == "values":
                        state = content
                    elif "token" in content:
                        yield Event("token", text=content["token"])
                    else:
                        yield Event("retrieval", chunks=tuple(content["retrieval"]))
        except RAGError as error:
            yield Event("result", result=self._done(_refused(error, request_id, begun), fields))
            return
        yield Event("result", result=self._done(_result(state, request_id), fields))

    @asynccontextmanager
    async def place(self) -> AsyncGenerator[None]:
        """Hold one of the places; raise ``Overloaded`` when none is free in time.

        Doors that do not ask the graph (task search, chat, door R's search) take theirs here too.
        """
        if self._places.locked():
            try:
                async with asyncio.timeout(WAIT_FOR_PLACE):
                    await self._places.acquire()
            except TimeoutError:
                raise Overloaded from None
        else:
            await self._places.acquire()
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1
            self._places.release()

    def _config(self, request_id: str) -> RunnableConfig:
        """Callbacks are cut off here, so that a door's own tracing (LangServe's events) shows nothing of the nodes."""
        metadata = {"request_id": request_id}
        return {"callbacks": self._callbacks(request_id), "run_name": "question", "metadata": metadata}

    def _done(self, result: Result, fields: Mapping[str, Any]) -> Result:
        said: dict[str, Any] = {
            "request_id": result.request_id,
            "outcome": result.outcome,
            "ms": result.processing_ms,
            "chunks": len(result.chunks),
            "citations": len(result.citations),
            "unsupported": len(result.unsupported),
            "stages": result.timings,
        }
        if result.failure:
            said["error_type"] = result.failure.error_type
            if advice := self._advice.get(result.failure.error_type):
                said["do"] = advice
        if self._log_questions:
            said |= {"question": fields.get("query"), "answer": result.answer}
        questions = questions_var.get()
        if questions is None:
            log.info("question", extra=said)
        else:  # the door's one line will hold it
            questions.append(said)
        for observe in self.observers:
            observe(result)
        return result


def _input(fields: Mapping[str, Any], request_id: str) -> Any:
    return {
        "query": fields.get("query"),
        "maxSources": fields.get("maxSources"),
        "maxTokens": fields.get("maxTokens"),
        "source": fields.get("source"),
        "requestId": request_id,
    }


def _elapsed(begun: float) -> int:
    return max(1, round((time.perf_counter() - begun) * 1000))


def _refused(error: RAGError, request_id: str, begun: float) -> Result:
    failure = failure_of(error)
    return Result(failure.outcome, request_id, _elapsed(begun), failure=failure)


def _result(state: Mapping[str, Any], request_id: str) -> Result:
    outcome = state["outcome"]
    answered = outcome == "answered"
    draft = state.get("draft")
    return Result(
        outcome=outcome,
        request_id=request_id,
        processing_ms=state["metadata"]["processingTimeMs"],
        answer=state["answer"],
        documents=state["citedDocuments"],
        citations=state.get("citations", []) if answered else [],
        pieces=state.get("pieces", []) if answered else [],
        chunks=state.get("chunks", []),
        confidence=state.get("confidence", draft.confidence or 0.0 if draft else 0.0),
        unsupported=state.get("unsupported", []),
        dropped_chunks=draft.dropped_chunks if draft else 0,
        timings=state.get("timings", {}),
        failure=state.get("failure"),
    )
