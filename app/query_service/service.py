"""Run questions through the graph: fields of a question in, a ``Result`` out.

The one caller of the graph, so that every interface shares the slots, the request id, the log line and the outcome.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.runnables import RunnableConfig
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import StreamMode

from app.ops.access import access_var
from app.ops.advice import ADVICE
from app.ops.traffic import current_request_id, questions_var
from app.query_service.conversations import Conversations
from app.settings import Attribution
from graph.errors import Overloaded, RAGError
from graph.state import Context, Event, Result, State, failure_of

SLOT_TIMEOUT = 0.5
"""Seconds a request waits for a slot before it is refused (contract, ``MAX_CONCURRENT_REQUESTS``: "briefly")."""
log = logging.getLogger("garden.service")


@dataclass
class QueryService:
    """Runs questions through the graph, concurrently on one event loop.

    ``callbacks`` makes the callbacks of one run from its request id.
    """

    graph: CompiledStateGraph[State, Context, Any, Any]
    slots: int
    log_questions: bool = False
    callbacks: Callable[[str], list[BaseCallbackHandler]] | None = None
    conversations: Conversations | None = None
    observers: list[Callable[[Result], None]] = field(default_factory=list)
    in_flight: int = 0

    def __post_init__(self) -> None:
        self._slots = asyncio.Semaphore(self.slots)

    async def ask(self, fields: Mapping[str, Any], attribution: Attribution | None = None) -> Result:
        """Answer one question. A ``RAGError`` becomes the ``Result``'s failure.

        *attribution* says whose citations count, where that is not what the settings say.
        """
        async with aclosing(self.stream(fields, tokens=False, attribution=attribution)) as events:
            *_, last = [event async for event in events]
        assert last.result is not None
        return last.result

    async def stream(
        self,
        fields: Mapping[str, Any],
        conversation: str | None = None,
        *,
        nodes: bool = False,
        tokens: bool = True,
        attribution: Attribution | None = None,
    ) -> AsyncGenerator[Event]:
        """Yield "rewritten", "retrieval", "token", "verified" and, with *nodes*, "node" events; always a "result".

        Without *tokens* the model may give its answer in one piece, which costs less.
        A follow-up is understood from what was asked before: under the same *conversation*, an id, or in the field
        ``earlierQuestions``.
        """
        request_id = current_request_id()
        begun = time.perf_counter()
        state: dict[str, Any] = {}
        modes: list[StreamMode] = ["values"]
        modes += ["custom"] if tokens else []
        modes += ["updates"] if nodes else []
        try:
            async with (
                self.slot(),
                aclosing(await self._run(fields, request_id, conversation, modes, attribution)) as steps,
            ):
                async for mode, content in steps:
                    if mode == "values":
                        state = content
                    elif mode == "updates":
                        for node, update in content.items():
                            yield Event("node", node=node, update=update)
                    elif "retrieval" in content:
                        yield Event("retrieval", chunks=tuple(content["retrieval"]))
                    elif checked := content.get("verified"):
                        yield Event("verified", text=checked["sentence"], citations=tuple(checked["citations"]))
                    else:
                        ((kind, text),) = content.items()
                        yield Event(kind, text=text)
            if conversation and self.conversations and state.get("history"):
                await self.conversations.keep(thread_of(conversation), state["history"])
            result = _result(state, request_id)
        except RAGError as error:
            failure = failure_of(error)
            milliseconds = max(1, round((time.perf_counter() - begun) * 1000))
            result = Result(failure.outcome, request_id, milliseconds, failure=failure)
        yield Event("result", result=self._done(result, fields))

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[None]:
        """Hold one of the slots; raise ``Overloaded`` when none becomes free in time."""
        try:
            async with asyncio.timeout(SLOT_TIMEOUT):
                await self._slots.acquire()
        except TimeoutError:
            raise Overloaded from None
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1
            self._slots.release()

    async def _run(
        self,
        fields: Mapping[str, Any],
        request_id: str,
        conversation: str | None,
        modes: list[StreamMode],
        attribution: Attribution | None,
    ) -> Any:
        """Start a run; it is given the questions asked before in *conversation*."""
        names = ("query", "maxSources", "maxTokens", "source", "filters", "collection", "earlierQuestions")
        run_input: Any = {**{name: fields.get(name) for name in names}, "requestId": request_id}
        if conversation and self.conversations:
            run_input["history"] = await self.conversations.history(thread_of(conversation))
        config: RunnableConfig = {
            # its own: they keep the nodes out of an interface's tracing
            "callbacks": self.callbacks(request_id) if self.callbacks else [],
            "run_name": "question",
            "metadata": {"request_id": request_id},
        }
        context = Context("custom" in modes, attribution)
        return self.graph.astream(
            run_input, config, context=context, stream_mode=modes, output_keys=list(State.__annotations__)
        )

    def _done(self, result: Result, fields: Mapping[str, Any]) -> Result:
        """Log and report the end of a question."""
        log_fields: dict[str, Any] = {
            "request_id": result.request_id,
            "outcome": result.outcome,
            "ms": result.processing_ms,
            "chunks": len(result.chunks),
            "citations": len(result.citations),
            "unsupported": len(result.unsupported),
            "stages": result.timings,
        }
        if result.failure:
            log_fields["error_type"] = result.failure.error_type
            if advice := ADVICE.get(result.failure.error_type):
                log_fields["do"] = advice
        if self.log_questions:
            log_fields |= {"question": fields.get("query"), "answer": result.answer}
        questions = questions_var.get()
        if questions is None:
            log.info("question", extra=log_fields)
        else:  # they go into the request's log line
            questions.append(log_fields)
        for observe in self.observers:
            observe(result)
        return result

    async def forget(self, conversation: str) -> None:
        """Delete what was asked in the caller's *conversation*. Raises ``StoreUnavailable``."""
        if self.conversations:
            await self.conversations.forget(thread_of(conversation))


def _result(state: Mapping[str, Any], request_id: str) -> Result:
    draft = state.get("draft")
    confidence = state.get("confidence", draft.confidence or 0.0 if draft else 0.0)
    return Result(
        outcome=state["outcome"],
        request_id=request_id,
        processing_ms=state["metadata"]["processingTimeMs"],
        answer=state["answer"],
        documents=state["citedDocuments"],
        citations=state.get("citations") or [],
        pieces=state.get("pieces", []) if state["outcome"] == "answered" else [],
        markers=state.get("markers") or {},
        answered_by="model" if draft and draft.by_model else "passages",
        chunks=state.get("chunks", []),
        confidence=round(confidence, 4),
        unsupported=state.get("unsupported", []),
        dropped_chunks=draft.dropped_chunks if draft else 0,
        timings=state.get("timings", {}),
        failure=state.get("failure"),
        rewritten=state.get("rewritten"),
    )


def thread_of(conversation: str) -> str:
    """Return the thread of a conversation: a key that sees only some collections has conversations of its own."""
    key = access_var.get().key
    return f"{key}/{conversation}" if key else conversation
