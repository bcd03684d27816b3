"""Map every error to its HTTP status and the body ``{"error", "message", "details"}`` (contract, Query API)."""

import json
import logging
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from app.ops.traffic import current_request_id, is_below
from graph.errors import InvalidInput, Outcome, RAGError
from graph.state import Failure, failure_of

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

OPENAI_PATHS = ("/v1",)
"""Paths whose errors are written so that OpenAI's clients show them: they read ``error.message`` and nothing else."""
JSON_TYPE = "application/json"
NO_JSON = "The body must be valid JSON in UTF-8, neither deeper nor with longer numbers than can be read."
ROUTING = {
    "Not Found": "No resource has this path.",
    "Method Not Allowed": "This method is not allowed for this path.",
}
"""Our words for Starlette's own where a route does not say what is missing."""
INTERNAL = "An internal error occurred. The log has the details under the request id."


class AnswerFailed(RAGError):
    """Carries the failure of a question to its response."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message, **failure.details)
        self.failure = failure


class ErrorResponse(JSONResponse):
    """The one error body; below ``OPENAI_PATHS`` its ``error`` is an object, whose ``code`` is the code."""

    def __init__(self, body: dict[str, Any], status: int, headers: dict[str, str] | None = None) -> None:
        super().__init__(body, status, headers)
        self._error_body = body

    def render(self, content: Any) -> bytes:
        """Return the body as JSON; what a client sent and is no valid Unicode comes back as question marks."""
        return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if is_below(scope["path"], OPENAI_PATHS):
            self.body = self.render(openai_error(self._error_body))
            self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)


def openai_error(body: dict[str, Any]) -> dict[str, Any]:
    """Return the error body *body* as OpenAI's clients read it; ``message`` and ``details`` stay where they are."""
    code = body["error"]
    error = {"message": body["message"], "type": code, "code": code, "param": body["details"].get("field")}
    return {**body, "error": error}


def failure_body(failure: Failure) -> dict[str, Any]:
    return {"error": BY_OUTCOME[failure.outcome][1], "message": failure.message, "details": failure.details}


def error_response(status: int, message: str, headers: dict[str, str] | None = None, **details: Any) -> Response:
    """Return the response of an error that no question caused."""
    code = BY_STATUS.get(status, "INTERNAL_ERROR")
    return ErrorResponse({"error": code, "message": message, "details": details}, status, headers)


def require_media_type(request: Request, expected: str = JSON_TYPE) -> None:
    """Raise ``InvalidInput`` unless the content type is the expected one.

    A page of another origin may send forms and plain text without a preflight request, but nothing else.
    """
    media_type = request.headers.get("content-type", "").split(";")[0].strip().lower()
    if media_type != expected:
        raise InvalidInput(f"Content-Type must be {expected}.", "Content-Type")


async def on_http_exception(request: Request, error: HTTPException) -> Response:
    """Answer Starlette's own errors (404, 405, 400), and FastAPI's one of a body that it cannot read."""
    if error.status_code == 400 and isinstance(error.__cause__, ValueError | RecursionError):
        return await on_rag_error(request, InvalidInput(NO_JSON, "body"))
    return error_response(error.status_code, ROUTING.get(error.detail, error.detail), dict(error.headers or {}))


async def on_validation_error(request: Request, error: RequestValidationError) -> Response:
    """Answer FastAPI's request validation as ``InvalidInput``: 400, never 422."""
    first: dict[str, Any] = next(iter(error.errors()), {})
    if first.get("type") == "json_invalid":
        return await on_rag_error(request, InvalidInput(NO_JSON, "body"))
    if isinstance(first.get("input"), bytes):  # FastAPI reads no body of another content type
        return await on_rag_error(request, InvalidInput(f"Content-Type must be {JSON_TYPE}.", "Content-Type"))
    _, *place = first.get("loc") or ("body",)  # where it was: in the body, the path or the query string
    return await on_rag_error(request, invalid_value(first, place))


def invalid_value(error: Mapping[str, Any], place: Sequence[Any]) -> InvalidInput:
    """Return one of pydantic's errors as ``InvalidInput`` for the field at *place*; without any it is ``body``."""
    field = ".".join(map(str, place)) or "body"
    message = str(error.get("msg", "invalid")).removeprefix("Value error, ")
    return InvalidInput(f"{field}: {message}.", field)


async def on_rag_error(request: Request, error: RAGError) -> Response:
    """Answer a failure, with ``Retry-After`` if it has one; an error without an outcome is 500."""
    if isinstance(error, AnswerFailed):
        failure = error.failure
    elif error.outcome is None:
        return await on_defect(request, error)
    else:
        failure = failure_of(error)
        fields = {"request_id": current_request_id(), "outcome": failure.outcome, "error_type": failure.error_type}
        log.info("refused", extra=fields | ({"said": failure.cause_text} if failure.cause_text else {}))
    retry_after = failure.details.get("retryAfterSeconds")
    headers = {"Retry-After": str(retry_after)} if retry_after else None
    return ErrorResponse(failure_body(failure), BY_OUTCOME[failure.outcome][0], headers)


async def on_disconnect(_: Request, __: Exception) -> Response:
    """Answer a disconnected client with 499, nginx's status for a closed request; for the log."""
    return error_response(499, "The client closed the connection.")


async def on_defect(_: Request, error: Exception) -> Response:
    """Answer an unknown exception with 500; log it with its trace, which the client never sees."""
    log.error("defect", exc_info=error)
    return error_response(500, INTERNAL)


HANDLERS: dict[int | type[Exception], Callable[[Request, Any], Coroutine[Any, Any, Response]]] = {
    HTTPException: on_http_exception,
    RequestValidationError: on_validation_error,
    RAGError: on_rag_error,
    ClientDisconnect: on_disconnect,
}
