"""Map every error to its HTTP status and to the one body ``{"error", "message", "details"}`` (contract, Query API)."""

from __future__ import annotations

import logging
from typing import Any

import orjson
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from graph.errors import InvalidInput, Outcome, RAGError
from graph.state import Failure
from graph.steps import failure_of

log = logging.getLogger("garden.http")

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
    413: "PAYLOAD_TOO_LARGE",
    499: "CLIENT_GONE",
    500: "INTERNAL_ERROR",
    503: "OVERLOADED",
}
"""Code of every status that is not the end of a question: a wrong path, method, key or size."""

INTERNAL = "An internal error occurred. The log has the details under the request id."


class JSON(Response):
    """A JSON response serialised by orjson."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content, option=orjson.OPT_SERIALIZE_NUMPY)


class AnswerFailed(RAGError):
    """Carries a failure out of a LangChain Runnable."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message, **failure.details)
        self.failure = failure


class ClientGone(Exception):
    """The client closed the connection before its answer was ready."""


def failure_body(failure: Failure) -> dict[str, Any]:
    """Return the error body of a failure in the state."""
    return {"error": BY_OUTCOME[failure.outcome][1], "message": failure.message, "details": failure.details}


def failure_response(failure: Failure) -> Response:
    """Return the response of a failure in the state, with ``Retry-After`` where it has one."""
    retry_after = failure.details.get("retryAfterSeconds")
    headers = {"Retry-After": str(retry_after)} if retry_after else None
    return JSON(failure_body(failure), BY_OUTCOME[failure.outcome][0], headers)


def error_response(status: int, message: str, headers: dict[str, str] | None = None, **details: Any) -> Response:
    """Return the response of an error that no question caused."""
    code = BY_STATUS.get(status, "INTERNAL_ERROR")
    return JSON({"error": code, "message": message, "details": details}, status, headers)


def require_media_type(request: Request, expected: str = "application/json") -> None:
    """Raise ``InvalidInput`` unless the content type is the expected one.

    A page of another origin may send forms and plain text without a preflight request, but nothing else.
    """
    media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media_type != expected:
        raise InvalidInput(f"Content-Type must be {expected}.", "Content-Type")


async def on_http_exception(_: Request, error: Exception) -> Response:
    """Answer Starlette's own errors (404, 405, 400)."""
    assert isinstance(error, HTTPException)
    messages = {404: "No resource has this path.", 405: "This method is not allowed for this path."}
    message = messages.get(error.status_code) or str(error.detail)
    return error_response(error.status_code, message, dict(error.headers or {}))


async def on_validation_error(_: Request, error: Exception) -> Response:
    """Answer FastAPI's request validation with 400, never 422."""
    assert isinstance(error, RequestValidationError)
    first: dict[str, Any] = next(iter(error.errors()), {})
    if first.get("type") == "json_invalid":
        return error_response(400, "The body must be valid JSON in UTF-8.", field="body")
    field = ".".join(str(part) for part in first.get("loc", ()) if part not in ("query", "body", "path")) or "body"
    message = str(first.get("msg", "invalid")).removeprefix("Value error, ")
    return error_response(400, f"{field}: {message}.", field=field)


async def on_rag_error(request: Request, error: Exception) -> Response:
    """Answer an error of the tree; one without an outcome, such as a wrong setting, is ours and so 500."""
    assert isinstance(error, RAGError)
    if isinstance(error, AnswerFailed):
        return failure_response(error.failure)
    if error.outcome is None:
        log.error("defect", exc_info=error)
        return error_response(500, INTERNAL)
    failure = failure_of(error)
    fields = {"request_id": request.state.request_id, "outcome": failure.outcome, "error_type": failure.error_type}
    log.info("refused", extra=fields)
    return failure_response(failure)


async def on_client_gone(_: Request, __: Exception) -> Response:
    """Answer a client that has left: 499, nginx's status for a closed request, for the log."""
    return error_response(499, "The client closed the connection.")
