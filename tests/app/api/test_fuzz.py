"""The whole API, called with what its own description allows and with what it does not (schemathesis).

``make test`` takes a few examples of each operation; ``make fuzz`` takes many.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
import schemathesis
from hypothesis import HealthCheck, Phase
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode

from app.api.errors import BY_OUTCOME, BY_STATUS
from app.api.server import create_app
from app.bootstrap.compose import build_container
from app.settings import load_settings
from tests.support.two_facts import serve_here

FEW, MANY = 4, 50
CODES = {*BY_STATUS.values(), *(code for _, code in BY_OUTCOME.values())}
TWICE = r"^/rag/(c/|stream_log|playground|feedback|token_feedback|public_trace_link)"
"""LangServe's second address of every route, its older stream and its page: the same code, or nothing of ours."""

# The server runs in this process, and draws random waits; hypothesis takes them for the strategy's own.
OTHERS_RANDOM = pytest.mark.filterwarnings("ignore:Do not use the `random` module inside strategies")


@pytest.fixture(scope="module")
def api(two_facts: Path, embedding: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The description a running service gives of itself; what is fuzzed is that service, over a socket."""
    folder = Path(shutil.copytree(two_facts, tmp_path_factory.mktemp("fuzz") / "data"))
    settings = load_settings(data_dir=folder)
    with serve_here(create_app(build_container(settings, embedding=embedding))) as address:
        schema = schemathesis.openapi.from_url(f"{address}/openapi.json").exclude(path_regex=TWICE)
        yield schema


def quick(examples: int) -> hypothesis.settings:
    """So many examples, the same ones each time."""
    checks = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]
    return hypothesis.settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=checks,
        phases=[Phase.generate, Phase.shrink],
    )


def holds(case: Any) -> None:
    """No call ends in a defect; every refusal has the one body, a known code and a request id."""
    response = case.call(timeout=60)
    case.validate_response(response, checks=[not_a_server_error])
    assert response.headers.get("x-request-id")
    if response.status_code >= 400:
        body = response.json()
        assert set(body) == {"error", "message", "details"}
        below = case.operation.path.startswith("/v1/")  # OpenAI's clients read an object
        assert (body["error"]["code"] if below else body["error"]) in CODES
        assert isinstance(body["details"], dict)
        assert response.status_code != 422


def right(operation: Any) -> Any:
    """Calls that the description of the operation allows."""
    return operation.as_strategy(generation_mode=GenerationMode.POSITIVE)


def wrong(operation: Any) -> Any:
    """Calls that it does not allow. In a path that takes any text no text is wrong, and looking for one takes long."""
    free = {
        parameter.name: "nobody.md"
        for parameter in operation.path_parameters
        if "pattern" not in parameter.definition["schema"]
    }
    return operation.as_strategy(generation_mode=GenerationMode.NEGATIVE, path_parameters=free or None)


def every_operation(api: Any, examples: int) -> set[str]:
    """Fuzz each operation with valid and with invalid calls, *examples* of each; the operations' names."""
    names = set()
    for made in api.get_all_operations():
        operation = made.ok()
        names.add(f"{operation.method.upper()} {operation.path}")
        for calls in (right, wrong):
            with contextlib.suppress(Unsatisfiable):  # an operation without parameters cannot be called wrongly
                quick(examples)(hypothesis.given(case=calls(operation))(holds))()
    return names


@OTHERS_RANDOM
@pytest.mark.timeout(300)
def test_no_call_breaks_it(api: Any) -> None:
    """Whatever is sent to any operation: an answer, or a refusal in the one shape; never a 422, never a 500."""
    names = every_operation(api, FEW)
    assert {"POST /query", "POST /rag/invoke", "POST /api/v1/chat", "GET /api/v1/search/semantic"} <= names


@OTHERS_RANDOM
@pytest.mark.long
@pytest.mark.timeout(3600)
def test_no_call_of_many_breaks_it(api: Any) -> None:
    """The same, at length."""
    every_operation(api, MANY)
