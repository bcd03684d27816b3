"""The OpenAPI document: FastAPI's own, with each door's summary, its examples, and the errors it may answer with."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from app.api.openapi_examples import DOORS, Door
from app.api.query_schemas import ErrorBody

EVENTS = "text/event-stream"
ERROR = {"$ref": f"#/components/schemas/{ErrorBody.__name__}"}
MESSAGES = {
    "UNAUTHORIZED": (401, "An API key is needed."),
    "FORBIDDEN": (403, "Documents are taken from this machine only, unless API_KEYS is set."),
    "PAYLOAD_TOO_LARGE": (413, "The request body is larger than 1048576 bytes."),
    "INTERNAL_ERROR": (500, "Something went wrong on our side. The request id names it in the log."),
    "RETRIEVAL_FAILED": (503, "The vector store cannot be reached."),
    "SYNTHESIS_FAILED": (503, "The chat model did not finish in time."),
    "OVERLOADED": (503, "The service is busy. Please try again shortly."),
}
"""Codes that no example of a request brings about: their status, and words they come with."""


def describe(app: FastAPI) -> None:
    """Have *app* serve that document at ``/openapi.json``. It is made at the first request for it."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = described(
                get_openapi(title=app.title, version=app.version, summary=app.summary, routes=app.routes)
            )
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # FastAPI's own way to change the document


def described(document: dict[str, Any]) -> dict[str, Any]:
    """*document* with what ``DOORS`` says of its operations; what FastAPI would answer with 422 is our 400."""
    schemas = document["components"]["schemas"]
    schemas[ErrorBody.__name__] = ErrorBody.model_json_schema()
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            operation["responses"].pop("422", None)
            if door := DOORS.get((method, path)):
                operation["summary"] = door.summary
                _add_examples(operation, door)
                _add_errors(operation, door, method)
    return document


def _add_examples(operation: dict[str, Any], door: Door) -> None:
    for name, example in door.examples.items():
        if example.body is not None:
            kinds = operation["requestBody"]["content"]
            content = next(iter(kinds.values())) if isinstance(example.body, str) else kinds["application/json"]
            content.setdefault("examples", {})[name] = {"value": example.body}
        for parameter in operation.get("parameters", ()):
            if parameter["name"] in example.params:
                shown = parameter.setdefault("examples", {})
                shown[name] = {"value": example.params[parameter["name"]]}
        kind = EVENTS if isinstance(example.answer, str) else "application/json"
        _add_answer(operation, example.status, kind, name, example.answer)


def _add_errors(operation: dict[str, Any], door: Door, method: str) -> None:
    codes = ["INTERNAL_ERROR", *door.codes]
    if not door.open:
        codes.append("UNAUTHORIZED")
    if method == "post":
        codes.append("PAYLOAD_TOO_LARGE")
    for code in codes:
        status, message = MESSAGES[code]
        _add_answer(operation, status, "application/json", code, {"error": code, "message": message, "details": {}})


def _add_answer(operation: dict[str, Any], status: int, kind: str, name: str, value: Any) -> None:
    """Put an example among the answers of *status*; one that is documented nowhere else is an error."""
    answer = operation["responses"].setdefault(str(status), {"description": f"`{name}`" if status > 400 else "Refused"})
    content = answer.setdefault("content", {})
    if kind == EVENTS:
        content.pop("application/json", None)
    schema = {"type": "string"} if kind == EVENTS else ERROR if status >= 400 else {}
    shown = content.setdefault(kind, {"schema": schema})
    shown.setdefault("examples", {})[name] = {"value": value}
