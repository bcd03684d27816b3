"""Door Q: ``POST /query`` and ``POST /query/stream``."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Callable, Coroutine
from typing import Any

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import Response
from fastapi.routing import APIRoute
from sse_starlette import EventSourceResponse

from app.api.disconnect import apart, unless_gone
from app.api.errors import JSON, failure_body, failure_response
from app.api.json_body import require_json
from app.api.query_schemas import STREAM_DOC, ErrorBody, QueryRequest, QueryResponse, query_input
from app.api.schemas import answer_body, chunk_summary
from app.query_service.service import QueryService
from graph.bounds import strict_bool
from graph.errors import InvalidInput
from graph.result import Event
from graph.steps import failure_of

log = logging.getLogger("garden.query")

ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorBody, "description": "`VALIDATION_ERROR`: the question or an option breaks a rule"},
    401: {"model": ErrorBody, "description": "`UNAUTHORIZED`: a key is needed"},
    413: {"model": ErrorBody, "description": "`PAYLOAD_TOO_LARGE`: the body is past 1 MiB"},
    503: {"model": ErrorBody, "description": "`RETRIEVAL_FAILED`, `SYNTHESIS_FAILED` or `OVERLOADED`"},
}


class DirectRoute(APIRoute):
    """A route that FastAPI describes, and whose endpoint takes the request as it is and makes the whole response."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's: who handles a request. Not FastAPI, which would look for parameters where there are none."""
        return self.endpoint


def query_routes(service: QueryService) -> APIRouter:
    """The two routes of door Q over *service*."""
    router = APIRouter(tags=["query"], route_class=DirectRoute)

    @router.post("/query", response_model=QueryResponse, responses=ERRORS, openapi_extra=query_input())
    async def query(request: Request) -> Response:
        """Answer a question from the documents, every claim cited and every citation verified."""
        try:
            fields = await read_fields(request)
        except InvalidInput as error:
            return _refused(error, request)
        result = await unless_gone(request, service.ask(fields, request.state.request_id))
        if result.failure:
            return failure_response(result.failure)
        return JSON(answer_body(result, evidence=bool(fields.get("includeEvidence"))))

    @router.post("/query/stream", responses={**ERRORS, 200: STREAM_DOC}, openapi_extra=query_input())
    async def query_stream(request: Request) -> Response:
        """The same answer as it comes, as server-sent events: `retrieval`, `token`…, then `answer` or `error`."""
        try:
            fields = await read_fields(request)
        except InvalidInput as error:
            return _refused(error, request)
        events = apart(service.stream(fields, request.state.request_id))
        first = await unless_gone(request, _first(events))
        if first.result is not None and first.result.failure:
            await events.aclose()
            return failure_response(first.result.failure)
        return EventSourceResponse(  # which, unlike a plain streaming response, notices that the client has left
            _sse(first, events, evidence=bool(fields.get("includeEvidence"))),
            sep="\n",
        )

    return router


def _refused(error: InvalidInput, request: Request) -> Response:
    """The response to a body that never became a question; logged as a question's end is."""
    failure = failure_of(error)
    log.info("question", extra={"request_id": request.state.request_id, "outcome": failure.outcome, **error.details})
    return failure_response(failure)


async def read_fields(request: Request) -> dict[str, Any]:
    """The known members of the JSON body, and ``source`` from the address, the body's being those of the contract.

    Raises ``InvalidInput`` for a body that is no JSON object.
    """
    require_json(request)
    try:
        fields = orjson.loads(await request.body())
    except orjson.JSONDecodeError:
        raise InvalidInput("The body must be valid JSON in UTF-8.", "body") from None
    if not isinstance(fields, dict):
        raise InvalidInput("The body must be a JSON object.", "body")
    strict_bool(fields.get("includeEvidence"), "includeEvidence")
    known = {name: fields.get(name) for name in QueryRequest.model_fields}
    return {**known, "source": request.query_params.get("source")}


async def _first(events: AsyncGenerator[Event]) -> Event:
    """The first event; nothing goes on when it is given up."""
    try:
        return await anext(events)
    except BaseException:
        await events.aclose()
        raise


async def _sse(first: Event, events: AsyncGenerator[Event], *, evidence: bool) -> AsyncGenerator[bytes]:
    """The stream: what was found comes first even when nothing was, and one ``answer`` or ``error`` ends it."""
    if first.kind != "retrieval":
        yield sse("retrieval", {"chunks": []})
    try:
        event: Event | None = first
        while event is not None:
            if event.kind == "retrieval":
                yield sse("retrieval", {"chunks": [chunk_summary(chunk) for chunk in event.chunks]})
            elif event.kind == "token":
                yield sse("token", {"text": event.text})
            elif event.result is not None and event.result.failure:
                yield sse("error", failure_body(event.result.failure))
            elif event.result is not None:
                yield sse("answer", answer_body(event.result, evidence=evidence))
            event = await anext(events, None)
    finally:
        await events.aclose()


def sse(event: str, data: dict[str, Any]) -> bytes:
    """One server-sent event with JSON data."""
    return b"event: " + event.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"
