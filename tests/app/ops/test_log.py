"""The log: one line a request, what it holds, and what it never holds unless asked."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.api.server import create_app
from app.bootstrap.compose import build_container
from app.ops.advice import ADVICE
from app.providers.stores.chunk_store import ChunkStore
from app.settings import load_settings
from graph import errors
from graph.errors import CollectionMissing, RAGError, StoreUnavailable
from tests.support.paths import ROOT
from tests.support.process import until
from tests.support.two_facts import QUESTION, serve_here

REQUESTS: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    ("POST", "/query", {"json": {"query": QUESTION}}, {"interface": "query", "status": 200, "outcome": "answered"}),
    (
        "POST",
        "/query/stream",
        {"json": {"query": QUESTION}},
        {"interface": "query", "status": 200, "outcome": "answered"},
    ),
    ("POST", "/query", {"json": {"query": " "}}, {"interface": "query", "status": 400, "outcome": "invalid_input"}),
    ("POST", "/query", {"content": b"{"}, {"interface": "query", "status": 400}),
    (
        "POST",
        "/rag/invoke",
        {"json": {"input": {"query": QUESTION}}},
        {"interface": "langserve", "outcome": "answered"},
    ),
    ("POST", "/rag/batch", {"json": {"inputs": [{"query": QUESTION}, {"query": ""}]}}, {"interface": "langserve"}),
    ("GET", "/api/v1/search/semantic", {"params": {"q": QUESTION}}, {"interface": "tasks", "status": 200}),
    ("POST", "/api/v1/chat", {"json": {"message": QUESTION}}, {"interface": "tasks", "status": 200}),
    ("GET", "/Eiffel", {}, {"interface": "none", "status": 404, "route": ""}),
]


def the_line(caplog: pytest.LogCaptureFixture) -> dict[str, Any]:
    """The one line of the one request, which is written once its answer is sent."""

    def lines() -> list[dict[str, Any]]:
        return [vars(record) for record in caplog.records if record.message == "request"]

    until(lines)
    (line,) = lines()
    return line


@pytest.mark.parametrize(("method", "path", "given", "reported"), REQUESTS)
def test_one_line_a_request(
    facts_client: httpx.Client,
    caplog: pytest.LogCaptureFixture,
    method: str,
    path: str,
    given: Any,
    reported: dict[str, Any],
) -> None:
    """Each request leaves one line: interface, status, duration, outcome; no word of a question is in any line."""
    with caplog.at_level(logging.INFO, "garden"):
        facts_client.request(method, path, **given)
        fields = the_line(caplog)
    assert reported.items() <= fields.items()
    assert fields["ms"] > 0
    assert fields["method"] == method
    assert not [record for record in caplog.records if "Eiffel" in str(vars(record))]


def test_a_batch_is_one_line_too(facts_client: httpx.Client, caplog: pytest.LogCaptureFixture) -> None:
    """The outcomes of a batch stand in the line of its request."""
    with caplog.at_level(logging.INFO, "garden"):
        facts_client.post("/rag/batch", json={"inputs": [{"query": QUESTION}, {"query": "What about zebras?"}]})
        assert sorted(the_line(caplog)["outcome"]) == ["answered", "no_relevant_chunks"]


def test_probes_are_silent(facts_client: httpx.Client, caplog: pytest.LogCaptureFixture) -> None:
    """Health and metrics, asked every few seconds, leave no line at INFO."""
    with caplog.at_level(logging.INFO):
        for path in ("/health", "/health/live", "/health/ready", "/metrics"):
            facts_client.get(path)
    assert [record.message for record in caplog.records if record.name.startswith("garden")] == []


def test_questions_are_logged_when_asked_for(data: Path, embedding: Any, caplog: pytest.LogCaptureFixture) -> None:
    """LOG_QUESTIONS=true puts question and answer into the request's line."""
    settings = load_settings(data_dir=data, log_questions=True)
    app = create_app(build_container(settings, embedding=embedding))
    with caplog.at_level(logging.INFO, "garden"), serve_here(app) as address:
        httpx.post(f"{address}/query", json={"query": QUESTION}, timeout=30)
        line = the_line(caplog)
    assert line["question"] == QUESTION
    assert "1889" in line["answer"]


@pytest.mark.parametrize("form", ["json", "text"])
def test_both_formats_hold_the_same(tmp_path: Path, form: str) -> None:
    """LOG_FORMAT=json is an object a line, text the same facts for people; the request id is in both."""
    code = f"""
import logging
from app.ops.log import set_up_logging
from app.ops.traffic import request_id_var
set_up_logging("INFO", {form!r})
request_id_var.set("my-id")
logging.getLogger("garden.x").info("request", extra={{"interface": "query", "ms": 1.5}})
"""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True)
    (line,) = done.stderr.splitlines()
    if form == "json":
        reported = json.loads(line)
        assert reported.pop("time")
        expected = {"level": "INFO", "logger": "garden.x", "event": "request", "request_id": "my-id"}
        assert reported == {**expected, "interface": "query", "ms": 1.5}
    else:
        assert line.endswith("INFO    garden.x request interface=query ms=1.5 request_id=my-id")


@ChunkStore.register
class Down:
    """A store that fails with a given error."""

    notes = ()

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def ahybrid(self, *_: Any, **__: Any) -> Any:
        raise self.error

    async def aprobe(self) -> None:
        raise self.error

    async def acount(self) -> int:
        raise self.error

    async def aclose(self) -> None:
        return None


@pytest.mark.parametrize(
    ("error", "names"),
    [
        (StoreUnavailable("It cannot be reached."), "QDRANT_URL"),
        (CollectionMissing("It is not there."), "garden ingest"),
    ],
)
def test_a_failure_says_what_to_do(
    tmp_path: Path, embedding: Any, caplog: pytest.LogCaptureFixture, error: Exception, names: str
) -> None:
    """Readiness and the request's line name the setting or command that helps, and never a setting's value."""
    url = "http://user:s3cret@127.0.0.1:1"  # pragma: allowlist secret
    settings = load_settings(data_dir=tmp_path, vector_store="qdrant", qdrant_url=url)
    app = create_app(build_container(settings, embedding=embedding, store=Down(error)))
    with caplog.at_level(logging.INFO, "garden"), serve_here(app) as address:
        ready = httpx.get(f"{address}/health/ready", timeout=30).json()
        httpx.post(f"{address}/query", json={"query": QUESTION}, timeout=30)
        metrics = httpx.get(f"{address}/metrics", timeout=30).text
    assert names in ready["details"]["do"]
    assert names in the_line(caplog)["do"]
    assert "garden_ready 0.0" in metrics
    assert "s3cret" not in str(ready) + metrics + str([vars(record) for record in caplog.records])


def test_every_failure_of_a_part_has_advice() -> None:
    """No error of the tree that a question can end in, but the asker's own mistake, is without advice."""
    kinds = [
        kind
        for kind in vars(errors).values()
        if isinstance(kind, type) and issubclass(kind, RAGError) and kind.outcome not in (None, "invalid_input")
    ]
    assert len(kinds) > 6
    assert [kind.__name__ for kind in kinds if kind.__name__ not in ADVICE and kind is not errors.RetrievalFailed] == []
