"""Door G: LangServe at ``/rag``, the one file that knows it (it is deprecated upstream).

What is served is not the graph but a Runnable over the service: its input and output are the public question and
answer, so chunks and nodes never leak, and its stream yields tokens and then the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextvars import Context, copy_context
from typing import Any

from fastapi import Depends, FastAPI
from fastapi.responses import RedirectResponse
from langchain_core.runnables import RunnableConfig, RunnableGenerator
from langchain_core.runnables.config import get_config_list, var_child_runnable_config
from langchain_core.runnables.utils import AddableDict
from langserve import add_routes
from pydantic import BaseModel, ConfigDict, Field

from app.api.disconnect import apart, request_var, unless_gone
from app.api.errors import failure_body
from app.api.langserve_checks import checked
from app.api.query_schemas import QueryResponse
from app.api.schemas import answer_body
from app.query_service.service import WAIT_FOR_PLACE, QueryService
from graph.errors import RAGError, SynthesisTimeout
from graph.result import Result
from graph.state import Failure
from graph.steps import failure_of


class RagInput(BaseModel):
    """A question, as in ``POST /query``. Types are left open here: the ``validate`` node is where they are checked."""

    model_config = ConfigDict(extra="ignore", title="Question")

    query: Any = Field(None, title="query", description="the question", json_schema_extra={"type": "string"})
    maxSources: Any = Field(None, title="maxSources", json_schema_extra={"type": ["integer", "null"]})
    maxTokens: Any = Field(None, title="maxTokens", json_schema_extra={"type": ["integer", "null"]})
    includeEvidence: Any = Field(None, title="includeEvidence", json_schema_extra={"type": ["boolean", "null"]})


class _Piece(AddableDict):
    """A part of a stream. Tokens add up; an answer, or an error, cannot be added to them.

    What cannot be added takes the place of what was there, so that what LangChain makes of a whole stream, as the
    ``final_output`` of ``stream_log``, is the public answer alone.
    """

    def __add__(self, other: AddableDict) -> AddableDict:
        if "token" not in other:
            raise TypeError("An answer is no further token.")
        return _Piece(super().__add__(other))


class AnswerFailed(RAGError):
    """A failure on its way out of a Runnable, which has no other means to report one."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message, **failure.details)
        self.failure = failure


class RagRunnable(RunnableGenerator[Any, Any]):
    """The service as a Runnable: ``ainvoke`` gives the answer's body, ``astream`` tokens and then that body."""

    def __init__(self, service: QueryService, seconds: float) -> None:
        """*seconds* are a request's, and so a batch's: with a moment more, for each of its questions ends by itself."""

        async def tokens(inputs: AsyncIterator[Any]) -> AsyncIterator[Any]:
            fields: dict[str, Any] = {}
            async for given in inputs:
                fields |= _fields(given)
            events = apart(service.stream(fields), _untraced())
            try:
                async for event in events:
                    if event.kind == "token":
                        yield _Piece({"token": event.text})
                    elif event.result is not None:
                        yield _Piece(_body(event.result, fields, raising=False))
            finally:
                await events.aclose()

        super().__init__(tokens, name="knowledge_garden")
        self._service = service
        self._seconds = seconds + WAIT_FOR_PLACE

    async def ainvoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        async def answer(given: Any) -> dict[str, Any]:
            fields = _fields(given)
            asked = _untraced().run(asyncio.create_task, self._service.ask(fields))
            request = request_var.get()
            result = await (asked if request is None else unless_gone(request, asked))
            return _body(result, fields, raising=True)

        return await self._acall_with_config(answer, input, config)

    async def abatch(
        self,
        inputs: list[Any],
        config: RunnableConfig | list[RunnableConfig] | None = None,
        *,
        return_exceptions: bool = False,
        **kwargs: Any,
    ) -> list[Any]:
        """Answer each of *inputs*, half as many at once as the service has places, so that no batch turns itself away.

        After a failure no further one is begun, and it is told when those under way have ended; the client's leaving
        ends them.
        """
        request = request_var.get()
        request_var.set(None)  # one watch over the client is enough
        few = asyncio.Semaphore(max(1, self._service.places // 2))
        failures: list[Exception] = []

        async def one(given: Any, own: RunnableConfig) -> Any:
            async with few:
                if failures and not return_exceptions:
                    return None  # nobody will see it
                try:
                    return await self.ainvoke(given, own)
                except Exception as error:  # noqa: BLE001 - told below, when the others have ended
                    failures.append(error)
                    return error

        async def every() -> list[Any]:
            try:
                async with asyncio.timeout(self._seconds):
                    answers = await asyncio.gather(*(one(*pair) for pair in zip(inputs, configs, strict=True)))
            except TimeoutError:
                raise AnswerFailed(failure_of(SynthesisTimeout("The batch did not finish in time."))) from None
            if failures and not return_exceptions:
                raise failures[0]
            return answers

        configs = get_config_list(config, len(inputs))
        return await (every() if request is None else unless_gone(request, every()))

    def invoke(self, input: Any, config: RunnableConfig | None = None, **kwargs: Any) -> Any:
        raise NotImplementedError("The service is asynchronous: use ainvoke, or RAGService from plain code.")

    def transform(self, input: Iterator[Any], config: RunnableConfig | None = None, **kwargs: Any) -> Iterator[Any]:
        raise NotImplementedError("The service is asynchronous: use astream, or RAGService from plain code.")


def add_rag_routes(app: FastAPI, service: QueryService, *, seconds: float) -> None:
    """Serve ``/rag/invoke``, ``batch``, ``stream``, ``stream_events``, ``playground`` and the schemas."""

    @app.get("/rag/playground", include_in_schema=False)
    async def playground() -> RedirectResponse:
        return RedirectResponse("playground/")

    add_routes(
        app,
        RagRunnable(service, seconds).with_types(input_type=RagInput, output_type=QueryResponse),
        path="/rag",
        enabled_endpoints=[
            "invoke", "batch", "stream", "stream_log", "stream_events", "playground",
            "input_schema", "output_schema", "config_schema",
        ],
        playground_type="default",
        dependencies=[Depends(checked)],
    )  # fmt: skip


def _untraced() -> Context:
    """This context, request id included, without the run LangChain is tracing: the nodes' work is not its child."""
    context = copy_context()
    context.run(var_child_runnable_config.set, None)
    return context


def _fields(given: Any) -> dict[str, Any]:
    """The question's fields; a bare string is a question too."""
    if isinstance(given, BaseModel):
        return given.model_dump()
    return dict(given) if isinstance(given, dict) else {"query": given}


def _body(result: Result, fields: dict[str, Any], *, raising: bool) -> dict[str, Any]:
    if result.failure is None:
        return answer_body(result, evidence=fields.get("includeEvidence") is True)
    if raising:
        raise AnswerFailed(result.failure)
    return failure_body(result.failure)
