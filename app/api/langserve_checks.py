"""What comes to door G, checked before LangServe reads it: what it cannot read it would call a defect of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import langserve
import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request

from app.api.disconnect import request_var
from app.api.json_body import require_json
from graph.bounds import strict_bool
from graph.errors import InvalidInput

MAX_BATCH = 32
"""Most questions in one batch (contract, Door G)."""


PLAYGROUND = Path(langserve.__file__).parent / "playground" / "dist"
"""The files of LangServe's playground."""


async def checked(request: Request) -> None:
    """Refuse what is not said to be JSON, what is no question of ours, a batch past ``MAX_BATCH``, a file not there.

    Raises ``InvalidInput``, naming the field, or ``HTTPException`` 404.
    LangServe does not notice that a client left while it invokes; the request is kept at hand for that.
    """
    if request.method != "POST":
        _check_file(request.path_params.get("file_path"))
        return
    require_json(request)
    batch = request.url.path.endswith("/batch")
    if batch or request.url.path.endswith("/invoke"):
        request_var.set(request)
    body = _read(await request.body())
    if not isinstance(body, dict):
        raise InvalidInput("The body must be a JSON object.", "body")
    if batch:
        _check_batch(body)
    else:
        _check_question(body.get("input"), "input")
    configs = body.get("config", {})
    for config in configs if batch and isinstance(configs, list) else [configs]:
        if not isinstance(config, dict):
            raise InvalidInput("config must be a JSON object.", "config")


def _read(body: bytes) -> Any:
    """The JSON of a body, if LangServe can read it too (with Python's parser) and write it into its events (orjson)."""
    try:
        read = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise InvalidInput("The body must be valid JSON in UTF-8.", "body") from None
    try:
        orjson.dumps(json.loads(body))
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(
            "The body must hold integers of at most 64 bits, Unicode text, and nothing nested deeply.", "body"
        ) from None
    return read


def _check_file(name: str | None) -> None:
    """That there is such a file of the playground; "" is its page. Raises 404, which then has the one error body."""
    if not name:
        return
    try:
        file = (PLAYGROUND / name).resolve()
        there = file.is_relative_to(PLAYGROUND.resolve()) and file.is_file()
    except (ValueError, OSError):  # a zero byte, a name too long
        there = False
    if not there:
        raise HTTPException(404)


def _check_batch(body: Mapping[str, Any]) -> None:
    inputs = body.get("inputs")
    if not isinstance(inputs, list) or len(inputs) > MAX_BATCH:
        raise InvalidInput(f"inputs must be a list of at most {MAX_BATCH} questions.", "inputs")
    for given in inputs:
        _check_question(given, "inputs")


def _check_question(given: Any, field: str) -> None:
    """That it is an object, and its one member that the graph does not check."""
    if not isinstance(given, dict):
        raise InvalidInput("A question must be a JSON object.", field)
    strict_bool(given.get("includeEvidence"), "includeEvidence")
