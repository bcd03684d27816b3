"""LangGraph Studio's server: ``langgraph dev`` on this checkout, asked with the LangGraph SDK."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from langchain_core.messages import AIMessage
from langgraph_sdk import get_sync_client
from langgraph_sdk.client import SyncLangGraphClient

from tests.app.api.test_query_api import CHEMICALS, OFF_TOPIC
from tests.peers.ports import held_port
from tests.support.paths import ROOT
from tests.support.samples_service import wait_until


@pytest.fixture(scope="module")
def studio(sample_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a development server over a copy of the sample collection; it needs no key."""
    folder = tmp_path_factory.mktemp("studio")
    shutil.copytree(sample_data, folder / "data")
    holding = ExitStack()
    port = holding.enter_context(held_port())
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
        holding.close()


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


def test_a_run_on_a_thread_owes_nothing_to_the_runs_before_it(client: SyncLangGraphClient) -> None:
    """After a refusal, an answer and an option on the same thread, each run ends as it would have without them."""
    thread = client.threads.create()["thread_id"]
    ends: list[tuple[str, int, bool, list[str]]] = []
    for given in (
        {"query": " "},
        {"query": CHEMICALS},
        {"query": CHEMICALS, "source": "nope.pdf"},
        {"query": CHEMICALS},
    ):
        state: Any = client.runs.wait(thread, "knowledge_garden", input=given)
        metadata = state["metadata"]
        assert metadata["answerSynthesized"] == bool(state["citedDocuments"])
        ends.append((state["outcome"], metadata["chunksRetrieved"], bool(state["failure"]), sorted(state["timings"])))
    whole = ["cite", "grade", "retrieve", "synthesize", "validate"]
    assert [(outcome, failed, ran) for outcome, _, failed, ran in ends] == [
        ("invalid_input", True, ["fail", "validate"]),
        ("answered", False, whole),
        ("invalid_input", True, ["fail", "retrieve", "validate"]),
        ("answered", False, whole),
    ]
    assert [found for _, found, _, _ in ends] == [0, ends[1][1], 0, ends[1][1]]


def test_a_thread_is_a_conversation(client: SyncLangGraphClient) -> None:
    """On a thread a follow-up is understood from the question before; its state says as what it was asked."""
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "knowledge_garden", input={"query": CHEMICALS})
    state: Any = client.runs.wait(thread, "knowledge_garden", input={"query": "And for visitors?"})
    assert state["rewritten"] == "What are the safety protocols for visitors?"
    assert state["question"]["text"] == state["rewritten"]
    assert set(state["metadata"]) == {"processingTimeMs", "answerSynthesized", "chunksRetrieved"}
    apart: Any = client.runs.wait(None, "knowledge_garden", input={"query": "And for visitors?"})
    assert (apart["question"]["text"], apart.get("rewritten")) == ("And for visitors?", None)


def chat_input(*texts: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text} for text in texts]}


def test_a_chat_holds_a_conversation(client: SyncLangGraphClient, http: httpx.Client) -> None:
    """On a thread of messages, each reply is the answer of /query with its sources; a follow-up is understood."""
    thread = client.threads.create()["thread_id"]
    state: Any = client.runs.wait(thread, "knowledge_garden_chat", input=chat_input(CHEMICALS))
    plain = http.post("/query", json={"query": CHEMICALS}).json()
    (block,) = state["messages"][-1]["content"]
    assert block["text"] == f"{plain['answer']}\n\nSources:\n\n1. Safety Manual, page 3"
    state = client.runs.wait(thread, "knowledge_garden_chat", input=chat_input("And for visitors?"))
    assert [message["type"] for message in state["messages"]] == ["human", "ai"] * 2
    metadata = state["messages"][-1]["response_metadata"]
    assert metadata["rewritten"] == "What are the safety protocols for visitors?"
    whole: Any = client.runs.wait(None, "knowledge_garden_chat", input=chat_input(CHEMICALS, "And for visitors?"))
    assert whole["messages"][-1]["response_metadata"] == metadata
    assert whole["messages"][-1]["content"][0]["text"] == state["messages"][-1]["content"][0]["text"]


def test_a_reply_has_citations_as_langchain_has_them(client: SyncLangGraphClient, http: httpx.Client) -> None:
    """Each marker of the text has a citation at its offsets, whose quote stands in the chunk that it names."""
    state: Any = client.runs.wait(None, "knowledge_garden_chat", input=chat_input(CHEMICALS))
    (block,) = AIMessage(**state["messages"][-1]).content_blocks
    assert block["type"] == "text"
    assert block["annotations"]
    for citation in block["annotations"]:
        assert citation["type"] == "citation"
        assert block["text"][citation["start_index"] : citation["end_index"]] == "[1]"
        extras = citation["extras"]
        stored = http.get(f"/api/v1/chunks/{quote(extras['chunkId'], safe='')}").json()
        assert stored["text"][extras["start"] : extras["end"]] == citation["cited_text"]
        assert (stored["documentId"], stored["title"]) == (extras["documentId"], citation["title"])


def test_the_question_graph_is_drawn_in_the_chat_and_seen_at_work(client: SyncLangGraphClient) -> None:
    """It is a subgraph: its nodes are drawn between the chat's two, and streamed as they run."""
    (assistant,) = client.assistants.search(graph_id="knowledge_garden_chat", metadata={"created_by": "system"})
    drawn: Any = client.assistants.get_graph(assistant["assistant_id"], xray=True)
    edges = {(edge["source"], edge["target"]) for edge in drawn["edges"]}
    assert {("ask", "question:validate"), ("question:cite", "question:extract")} <= edges
    assert {source.partition(":")[0] for source, target in edges if target == "reply"} == {"question"}
    seen: list[str] = []
    for part in client.runs.stream(
        None, "knowledge_garden_chat", input=chat_input(CHEMICALS), stream_mode="updates", stream_subgraphs=True
    ):
        if part.event.startswith("updates"):
            seen += part.data
    assert seen == ["ask", "validate", "retrieve", "grade", "synthesize", "cite", "question", "reply"]


def test_a_chats_thread_keeps_its_messages_alone(client: SyncLangGraphClient) -> None:
    """Messages go in, and are the state of a thread: what the nodes leave for each other does not last."""
    (assistant,) = client.assistants.search(graph_id="knowledge_garden_chat", metadata={"created_by": "system"})
    schemas: Any = client.assistants.get_schemas(assistant["assistant_id"])
    assert [list(schemas[name]["properties"]) for name in ("input_schema", "output_schema")] == [["messages"]] * 2
    thread = client.threads.create()["thread_id"]
    client.runs.wait(thread, "knowledge_garden_chat", input=chat_input(CHEMICALS))
    state: Any = client.threads.get_state(thread)
    assert set(state["values"]) == {"messages"}


@pytest.mark.parametrize(
    ("messages", "outcome"),
    [
        (chat_input(OFF_TOPIC), "no_relevant_chunks"),
        (chat_input(" "), "invalid_input"),
        ({"messages": []}, "invalid_input"),
    ],
)
def test_a_chat_says_why_there_is_no_answer(
    client: SyncLangGraphClient, messages: dict[str, Any], outcome: str
) -> None:
    """A decline and a failure are plain messages without citations."""
    state: Any = client.runs.wait(None, "knowledge_garden_chat", input=messages)
    (block,) = state["messages"][-1]["content"]
    assert state["messages"][-1]["response_metadata"] == {"outcome": outcome}
    assert block["text"]
    assert block["annotations"] == []


def test_studio_shows_each_node_at_work(client: SyncLangGraphClient) -> None:
    """The stream of updates names every node that ran, in order, with what it left in the state."""
    seen: list[str] = []
    for part in client.runs.stream(None, "knowledge_garden", input={"query": CHEMICALS}, stream_mode="updates"):
        if part.event == "updates":
            seen += part.data
    assert seen == ["validate", "retrieve", "grade", "synthesize", "cite"]


def test_each_nodes_work_can_be_read(client: SyncLangGraphClient) -> None:
    """What a node left is a page at most, in words of the state's own, without vectors; the numbers have names."""
    work: dict[str, Any] = {}
    for part in client.runs.stream(None, "knowledge_garden", input={"query": CHEMICALS}, stream_mode="updates"):
        if part.event == "updates":
            work |= part.data
    assert work["validate"]["question"]["text"] == CHEMICALS
    assert work["validate"]["question"]["relevance_threshold"] == 0.8
    assert len(work["retrieve"]["chunks"]) == 10
    (passed, *_) = work["grade"]["graded"]
    assert passed["document_id"] == "safety_manual.pdf"
    assert 0.8 <= passed["relevance"] <= 1
    (sentence, *_) = work["synthesize"]["draft"]["sentences"]
    assert sentence["sources"][0]["span"]
    assert work["cite"]["citations"][0]["quote"] in passed["text"]
    for name, left in work.items():
        assert len(json.dumps(left)) < 50_000, name
        assert left["timings"][name] > 0
        assert longest_row_of_numbers(left) < 100, name


def test_the_program_of_the_studio_page_shows_each_node(studio: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The program of docs/studio.md runs as it stands: each node in order, up to the wrong answer."""
    page = (ROOT / "docs" / "studio.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"<!-- studio -->\n```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    exec(compile(program.replace("http://127.0.0.1:2024", studio), "docs/studio.md", "exec", dont_inherit=True), {})
    lines = capsys.readouterr().out.splitlines()
    ran = ["validate", "retrieve", "grade", "synthesize"]
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == [*ran, "cite"]
    assert lines[-1].startswith("    answered: ")


def test_the_chat_of_the_studio_page_prints_its_citation(studio: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The second program of docs/studio.md runs as it stands, and its last line is a marker and its quote."""
    page = (ROOT / "docs" / "studio.md").read_text(encoding="utf-8")
    (program,) = re.findall(r"<!-- studio chat -->\n```python\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    exec(compile(program.replace("http://127.0.0.1:2024", studio), "docs/studio.md", "exec", dont_inherit=True), {})
    assert capsys.readouterr().out.splitlines()[-1].startswith("[1] The safety protocols for handling chemicals")


def longest_row_of_numbers(value: Any) -> int:
    """Length of the longest list of numbers anywhere in *value*: a vector would be hundreds."""
    if isinstance(value, dict):
        return max(map(longest_row_of_numbers, value.values()), default=0)
    if isinstance(value, list):
        numbers = sum(isinstance(number, int | float) for number in value)
        return max([numbers, *map(longest_row_of_numbers, value)])
    return 0


def test_studio_form_shows_the_question(client: SyncLangGraphClient) -> None:
    """The input schema asks for the question and nothing of the graph's inside."""
    (assistant,) = client.assistants.search(graph_id="knowledge_garden", metadata={"created_by": "system"})
    schema: Any = client.assistants.get_schemas(assistant["assistant_id"])["input_schema"]
    assert schema["required"] == ["query"]
    assert set(schema["properties"]) == {
        "query", "maxSources", "maxTokens", "source", "filters", "collection", "history", "earlierQuestions",
        "requestId",
    }  # fmt: skip


def test_both_ends_are_drawn(client: SyncLangGraphClient) -> None:
    """The drawing has ``no_answer`` and ``fail`` from each node where they can arise, and cite to extract."""
    (assistant,) = client.assistants.search(graph_id="knowledge_garden", metadata={"created_by": "system"})
    drawn: Any = client.assistants.get_graph(assistant["assistant_id"])
    edges = {(edge["source"], edge["target"]) for edge in drawn["edges"]}
    assert {source for source, target in edges if target == "no_answer"} == {
        "retrieve", "grade", "synthesize", "extract", "cite",
    }  # fmt: skip
    assert {source for source, target in edges if target == "fail"} == {
        "validate", "retrieve", "grade", "synthesize", "extract", "cite",
    }  # fmt: skip
    assert {("cite", "extract"), ("extract", "cite")} <= edges


def test_invalid_question_ends_in_fail(client: SyncLangGraphClient) -> None:
    """A blank question ends in the ``fail`` node, as a value and not as an exception."""
    state: Any = client.runs.wait(None, "knowledge_garden", input={"query": "  "})
    assert state["outcome"] == "invalid_input"
    assert state["answer"] is None
