"""Serve LangServe at ``/rag``; the one module that knows it (it is deprecated upstream).

What is served is a Runnable over the service: its input and output are the public question and answer, so chunks and
nodes do not leak. ``stream`` is ours, since LangServe reports every failure of a stream as "Internal Server Error".
"""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any

import langserve
import orjson
from fastapi import APIRouter, Depends, Request
from fastapi.responses import RedirectResponse
from langchain_core.runnables import RunnableConfig, RunnableLambda
from langchain_core.runnables.config import get_config_list, var_child_runnable_config
from sse_starlette import EventSourceResponse
from starlette.exceptions import HTTPException

from app.api.errors import BY_OUTCOME, AnswerFailed, require_media_type
from app.api.query import answered, event_stream, in_own_task, json_event
from app.api.run_log import run_log
from app.api.schemas import QueryRequest, QueryResponse, result_body, wire_event
from app.query_service.service import SLOT_TIMEOUT, QueryService
from graph.errors import InvalidInput, SynthesisTimeout
from graph.state import failure_of

MAX_BATCH = 32
"""Most questions in one batch (contract, LangServe)."""
PLAYGROUND = Path(langserve.__file__).parent / "playground" / "dist"
FILES = frozenset(path.relative_to(PLAYGROUND).as_posix() for path in PLAYGROUND.rglob("*") if path.is_file())

request_var: ContextVar[Request | None] = ContextVar("request", default=None)
"""The current request: LangServe does not notice that a client left while it invokes."""


QUESTION = {"type": "object", "required": ["input"], "properties": {"input": QueryRequest.model_json_schema()}}
BODY = {"requestBody": {"required": True, "content": {"application/json": {"schema": QUESTION}}}}
STREAM = event_stream("`data` with tokens, then the answer; `end`. Or `error` with the error body.")


class RagRunnable(RunnableLambda[Any, Any]):
    """The service as a Runnable whose output is the answer's body."""

    InputType = QueryRequest  # not ``with_types``, whose wrapper has the ``astream_log`` of every Runnable
    OutputType = QueryResponse

    def __init__(self, service: QueryService, seconds: float) -> None:
        """*seconds* is the deadline of a request, and so of a batch."""

        async def answer(value: Any) -> dict[str, Any]:
            """Return the answer's body, or a failure's error body where no HTTP status can be sent."""
            fields, request = _fields(value), request_var.get()
            var_child_runnable_config.set(None)  # the graph's nodes are not runs of this one
            work = service.ask(fields)
            result = await (answered(request, work) if request else work)
            return result_body(result, evidence=fields["includeEvidence"] is True)

        super().__init__(answer, name="knowledge_garden")
        self._service = service
        self._seconds = seconds + SLOT_TIMEOUT  # each question of a batch ends by itself before

    def astream_log(self, input: Any, config: Any = None, **kwargs: Any) -> AsyncGenerator[Any]:
        """Yield the playground's run log; filters are ignored."""
        return run_log(self._service, _fields(input))

    async def abatch(
        self, inputs: list[Any], config: Any = None, *, return_exceptions: bool = False, **kwargs: Any
    ) -> list[Any]:
        """Answer *inputs* on at most half of the slots, so that no batch exhausts them.

        The first failure cancels the rest and is raised; so does the client's disconnect.
        """
        slots = asyncio.Semaphore(max(1, self._service.slots // 2))

        async def one(value: Any, run_config: RunnableConfig) -> Any:
            async with slots:
                return await self.ainvoke(value, run_config)

        try:
            async with asyncio.timeout(self._seconds), asyncio.TaskGroup() as group:
                pairs = zip(inputs, get_config_list(config, len(inputs)), strict=True)
                answers = [group.create_task(one(*pair)) for pair in pairs]
        except TimeoutError:
            raise AnswerFailed(failure_of(SynthesisTimeout("The batch did not finish in time."))) from None
        except ExceptionGroup as failed:
            raise failed.exceptions[0] from None
        return [answer.result() for answer in answers]


def rag_routes(service: QueryService, seconds: float) -> APIRouter:
    """Return ``/rag/invoke``, ``batch``, ``stream``, ``stream_events``, ``playground`` and the schemas."""
    router = APIRouter(tags=["langserve"])

    @router.get("/rag/playground", include_in_schema=False)
    async def playground() -> RedirectResponse:
        return RedirectResponse("playground/")

    @router.post("/rag/stream", responses={200: STREAM}, response_class=EventSourceResponse, openapi_extra=BODY)
    async def stream(body: Annotated[dict[str, Any], Depends(checked)]) -> EventSourceResponse:
        """Stream tokens, then the answer."""
        return EventSourceResponse(_events(service, _fields(body["input"])), sep="\n", send_timeout=seconds)

    langserve.add_routes(
        router,
        RagRunnable(service, seconds),
        path="/rag",
        enabled_endpoints=[
            "invoke", "batch", "stream_log", "stream_events", "playground",
            "input_schema", "output_schema", "config_schema",
        ],
        playground_type="default",
        dependencies=[Depends(checked)],
    )  # fmt: skip
    return router


async def checked(request: Request) -> dict[str, Any]:
    """Return the checked body of a POST: LangServe answers 500 for a body it cannot read.

    Raises ``InvalidInput``, naming the field, or ``HTTPException`` 404 for a file that the playground does not have.
    """
    if request.method != "POST":
        if request.path_params.get("file_path") not in (None, "", *FILES):
            raise HTTPException(404)
        return {}
    require_media_type(request)
    endpoint = request.url.path.rpartition("/")[2]
    if endpoint in ("invoke", "batch"):
        request_var.set(request)
    content = await request.body()
    try:
        body = orjson.loads(content)
        orjson.dumps(json.loads(content))  # LangServe reads with the one and writes its events with the other
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput("The body must be valid JSON in UTF-8, with integers of at most 64 bits.", "body") from None
    if not isinstance(body, dict):
        raise InvalidInput("The body must be a JSON object.", "body")
    inputs, field = (body.get("inputs"), "inputs") if endpoint == "batch" else ([body.get("input")], "input")
    if not isinstance(inputs, list) or len(inputs) > MAX_BATCH:
        raise InvalidInput(f"inputs must be a list of at most {MAX_BATCH} questions.", "inputs")
    for question in inputs:
        if not isinstance(question, dict):
            raise InvalidInput("A question must be a JSON object.", field)
        if not isinstance(question.get("includeEvidence"), bool | None):
            raise InvalidInput("includeEvidence must be true or false.", "includeEvidence")
    configs = body.get("config", {})
    several = endpoint == "batch" and isinstance(configs, list)
    if several and len(configs) != len(inputs):
        raise InvalidInput("config must be one JSON object, or as many as there are inputs.", "config")
    if not all(isinstance(config, dict) for config in (configs if several else [configs])):
        raise InvalidInput("config must be a JSON object.", "config")
    return body


async def _events(service: QueryService, fields: dict[str, Any]) -> AsyncGenerator[bytes]:
    """Yield the events of LangServe's protocol; ``status_code`` is what its client raises an error by."""
    async with aclosing(in_own_task(service.stream(fields))) as events:
        async for event in events:
            name, data = wire_event(event, evidence=bool(fields["includeEvidence"]))
            if event.result and event.result.failure:
                yield json_event("error", {**data, "status_code": BY_OUTCOME[event.result.failure.outcome][0]})
                return
            if name not in ("retrieval", "verified"):
                yield json_event("data", {"token": data["text"]} if name == "token" else data)
    yield b"event: end\n\n"


def _fields(value: Any) -> dict[str, Any]:
    """Return the question's fields; a bare string is a question too."""
    question = value if isinstance(value, QueryRequest | dict) else {"query": value}
    return QueryRequest.model_validate(question).model_dump()
