"""LangGraph Studio's server: ``langgraph dev`` on this checkout, asked with the LangGraph SDK."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from .conftest import free_port, wait_until
from .test_query_api import CHEMICALS

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def studio(planted: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a development server over a copy of the planted garden; it needs no key."""
    folder = tmp_path_factory.mktemp("studio")
    shutil.copytree(planted, folder / "data")
    port = free_port()
    log = (folder / "log").open("w")
    command = [sys.executable, "-m", "langgraph_cli", "dev", "--no-browser", "--no-reload", "--port", str(port)]
    environment = {**os.environ, "DATA_DIR": str(folder / "data"), "LANGSMITH_TRACING": "false"}
    process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=subprocess.STDOUT)
    base = f"http://127.0.0.1:{port}"

    def up() -> bool:
        assert process.poll() is None, (folder / "log").read_text()[-3000:]
        try:
            return httpx.get(f"{base}/ok", timeout=1).status_code == 200
        except httpx.HTTPError:
            return False

    try:
        wait_until(up, 90)
        yield base
    finally:
        process.terminate()
        process.wait(20)
        log.close()


@pytest.fixture
def client(studio: str) -> Iterator[SyncLangGraphClient]:
    """The LangGraph SDK's client of that server."""
    with get_sync_client(url=studio) as made:
        yield made


def test_studio_run_gives_the_answer_of_query(client: SyncLangGraphClient, http: httpx.Client) -> None:
    """A run with input key ``query`` ends in a state with the same answer, citedDocuments and metadata as /query."""
    state: Any = client.runs.wait(None, "knowledge_garden", input={"query": CHEMICALS})
    plain = http.post("/query", json={"query": CHEMICALS}).json()
    assert state["answer"] == plain["answer"]
    assert state["citedDocuments"] == plain["citedDocuments"]
    assert state["metadata"] | {"processingTimeMs": 0} == plain["metadata"] | {"processingTimeMs": 0}
    assert state["outcome"] == "answered"


def test_studio_shows_each_node_at_work(client: SyncLangGraphClient) -> None:
    """The stream of updates names every node that ran, in order, with what it left in the state."""
    seen: list[str] = []
    for part in client.runs.stream(None, "knowledge_garden", input={"query": CHEMICALS}, stream_mode="updates"):
        if part.event == "updates":
            seen += part.data
    assert seen == ["validate", "retrieve", "grade", "synthesize", "cite"]


def test_studio_form_shows_the_question(client: SyncLangGraphClient) -> None:
    """The input schema asks for the question and nothing of the graph's inside."""
    (assistant,) = client.assistants.search(graph_id="knowledge_garden")
    schema: Any = client.assistants.get_schemas(assistant["assistant_id"])["input_schema"]
    assert schema["required"] == ["query"]
    assert set(schema["properties"]) == {"query", "maxSources", "maxTokens", "source", "requestId"}


def test_both_ends_are_drawn(client: SyncLangGraphClient) -> None:
    """The drawing has every node, ``no_answer`` from four of them and ``fail`` from four."""
    (assistant,) = client.assistants.search(graph_id="knowledge_garden")
    drawn: Any = client.assistants.get_graph(assistant["assistant_id"])
    edges = {(edge["source"], edge["target"]) for edge in drawn["edges"]}
    assert {source for source, target in edges if target == "no_answer"} == {
        "retrieve", "grade", "synthesize", "cite",
    }  # fmt: skip
    assert {source for source, target in edges if target == "fail"} == {
        "validate", "retrieve", "grade", "synthesize",
    }  # fmt: skip


def test_invalid_question_ends_in_fail(client: SyncLangGraphClient) -> None:
    """A blank question ends in the ``fail`` node, as a value and not as an exception."""
    state: Any = client.runs.wait(None, "knowledge_garden", input={"query": "  "})
    assert state["outcome"] == "invalid_input"
    assert state["answer"] is None
