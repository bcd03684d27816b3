"""Errors on the wire: one table, one body, on every path of the service.

The body is ``{"error", "message", "details"}`` (contract, Door Q); ``details`` is always an object.
"""

from __future__ import annotations

from typing import Any

import orjson
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from graph.errors import Outcome, RAGError
from graph.state import Failure

BY_OUTCOME: dict[Outcome, tuple[int, str]] = {
    "invalid_input": (400, "VALIDATION_ERROR"),
    "retrieval_failed": (503, "RETRIEVAL_FAILED"),
    "rerank_failed": (503, "RETRIEVAL_FAILED"),
    "synthesis_failed": (503, "SYNTHESIS_FAILED"),
    "synthesis_timeout": (503, "SYNTHESIS_FAILED"),
    "overloaded": (503, "OVERLOADED"),
}
"""Status and code of every outcome that is a failure. Other outcomes are answers, status 200."""

BY_STATUS = {
    400: "VALIDATION_ERROR",
    401: "UNAUTHORIZED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    408: "REQUEST_TIMEOUT",
    413: "PAYLOAD_TOO_LARGE",
    422: "VALIDATION_ERROR",
    431: "HEADERS_TOO_LARGE",
    499: "CLIENT_GONE",
    500: "INTERNAL_ERROR",
    503: "OVERLOADED",
}


class JSON(Response):
    """A JSON response, serialised once."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY)


def body(error: str, message: str, details: dict[str, Any] | None = None) -> dict[str, Any]:
    """The one error body."""
    return {"error": error, "message": message, "details": details or {}}


def failure_body(failure: Failure) -> dict[str, Any]:
    """The error body of a failure in the state."""
    return body(BY_OUTCOME[failure.outcome][1], failure.message, failure.details)


def failure_response(failure: Failure) -> Response:
    """The response of a failure in the state, ``Retry-After`` included where it says when to come back."""
    retry_after = failure.details.get("retryAfterSeconds")
    headers = {"Retry-After": str(retry_after)} if retry_after else None
    return JSON(failure_body(failure), BY_OUTCOME[failure.outcome][0], headers)


def error_response(status: int, message: str, headers: dict[str, str] | None = None, **details: Any) -> Response:
    """The response of an error that no question caused: a wrong path, method, key or size."""
    return JSON(body(BY_STATUS.get(status, "INTERNAL_ERROR"), message, details), status, headers)


async def on_http_exception(_: Request, error: Exception) -> Response:
    """Starlette's own refusals (404, 405, 400), in our body."""
    assert isinstance(error, HTTPException)
    words = {404: "There is nothing at this address.", 405: "This method is not allowed here."}
    message = words.get(error.status_code) or str(error.detail)
    status = 400 if error.status_code == 422 else error.status_code
    return error_response(status, message, dict(error.headers or {}))


async def on_validation_error(_: Request, error: Exception) -> Response:
    """FastAPI's request validation, as 400 in our body and never 422."""
    assert isinstance(error, RequestValidationError)
    first: dict[str, Any] = next(iter(error.errors()), {})
    if first.get("type") == "json_invalid":
        return error_response(400, "The body must be valid JSON in UTF-8.", field="body")
    place = [str(part) for part in first.get("loc", ()) if part not in ("query", "body", "path")]
    field = ".".join(place) or "body"
    message = str(first.get("msg", "invalid")).removeprefix("Value error, ")
    return error_response(400, f"{field}: {message}.", field=field)


async def on_rag_error(_: Request, error: Exception) -> Response:
    """An error of the tree raised outside the graph (search, tasks, ingest)."""
    assert isinstance(error, RAGError)
    if error.outcome is None:
        return JSON(body("VALIDATION_ERROR", error.message, dict(error.details)), 400)
    return failure_response(Failure(type(error).__name__, error.outcome, error.message, dict(error.details)))


async def on_answer_failed(_: Request, error: Exception) -> Response:
    """A failure that a Runnable carried out of the graph (LangServe)."""
    return failure_response(error.failure)  # type: ignore[attr-defined]  # only AnswerFailed is registered for this


async def on_client_gone(_: Request, __: Exception) -> Response:
    """Nobody is there to read this; the status is nginx's for a closed request, for the log's sake."""
    return error_response(499, "The client closed the connection.")


def defect_response() -> Response:
    """What a client is told of a defect of ours: nothing of it."""
    return error_response(500, "Something went wrong on our side. The request id names it in the log.")
