"""LangServe: LangServe at ``/rag``, over a real socket and with LangServe's own client."""

from __future__ import annotations

import json
import re
from typing import Any

import httpx
import jsonpatch
import pytest
from langserve import RemoteRunnable

from graph.nodes.answer import NOTHING_FOUND
from tests.app.api.test_query_api import CHEMICALS, OFF_TOPIC

INTERNALS = ("idf", "graded", "span_similarities", "near_duplicates", "subquery_results", "page_content")


def untimed(body: dict[str, Any]) -> dict[str, Any]:
    return {**body, "metadata": {**body["metadata"], "processingTimeMs": 0}}


def test_invoke_gives_the_body_of_query(http: httpx.Client) -> None:
    """``/rag/invoke`` answers with the same public object as ``/query``, and nothing of the graph's inside."""
    response = http.post("/rag/invoke", json={"input": {"query": CHEMICALS}})
    assert response.status_code == 200
    plain = http.post("/query", json={"query": CHEMICALS}).json()
    assert untimed(response.json()["output"]) == untimed(plain)
    assert not any(word in response.text for word in INTERNALS)


@pytest.mark.parametrize("query", ["", "   ", None, 7, "x" * 2001])
def test_invoke_keeps_status_and_body_of_an_error(http: httpx.Client, query: Any) -> None:
    """An invalid question is 400 in the one error body on ``/rag/invoke`` too."""
    response = http.post("/rag/invoke", json={"input": {"query": query}})
    assert response.status_code == 400
    assert set(response.json()) == {"error", "message", "details"}
    assert response.json()["error"] == "VALIDATION_ERROR"


@pytest.mark.parametrize("body", [b"{", b"[]", b"{}", b'{"input": 5, "config": 7}'])
def test_malformed_bodies_are_refused(http: httpx.Client, body: bytes) -> None:
    """A body LangServe cannot read is 400 in the one error body."""
    response = http.post("/rag/invoke", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 400
    assert response.json()["error"] == "VALIDATION_ERROR"


LOOSE = {"relevance_threshold": 0, "min_confidence_threshold": 0, "max_sources": 50, "max_tokens": 4096}


@pytest.mark.parametrize("config", [{"configurable": LOOSE}, {"context": LOOSE}, {"configurable": {"context": LOOSE}}])
def test_config_loosens_nothing(http: httpx.Client, config: dict[str, Any]) -> None:
    """Whatever ``config`` a client sends, thresholds and bounds are the service's: the declined question stays so."""
    plain = http.post("/query", json={"query": OFF_TOPIC}).json()
    for body in ({"input": {"query": OFF_TOPIC}, "config": config}, {"input": {"query": OFF_TOPIC, **LOOSE}}):
        assert untimed(http.post("/rag/invoke", json=body).json()["output"]) == untimed(plain)
        streamed = http.post("/rag/stream", json=body).text
        (last,) = [line for line in streamed.splitlines() if line.startswith("data: ") and '"answer"' in line]
        assert untimed(json.loads(last.removeprefix("data: "))) == untimed(plain)
    batch = http.post("/rag/batch", json={"inputs": [{"query": OFF_TOPIC}], "config": config}).json()["output"]
    assert untimed(batch[0]) == untimed(plain)


def test_config_offers_nothing_to_set(http: httpx.Client) -> None:
    """The playground's form has no setting: the config schema is empty."""
    assert http.get("/rag/config_schema").json().get("properties", {}) == {}


def test_stream_brings_tokens_then_the_answer(http: httpx.Client) -> None:
    """``/rag/stream`` shows text as it comes, and its last piece is the public answer; no chunk leaks."""
    remote: RemoteRunnable[Any, Any] = RemoteRunnable(str(http.base_url.join("/rag/")))
    pieces = list(remote.stream({"query": CHEMICALS}))
    assert all(set(piece) == {"token"} for piece in pieces[:-1])
    assert len(pieces) > 1
    plain = http.post("/query", json={"query": CHEMICALS}).json()
    assert untimed(dict(pieces[-1])) == untimed(plain)
    assert not any(word in str(pieces) for word in INTERNALS)


@pytest.mark.parametrize("query", [" ", "x" * 2001])
def test_a_failed_stream_is_an_error_event(http: httpx.Client, query: str) -> None:
    """``/rag/stream`` ends in ``event: error`` with the one error body, and LangServe's client raises its message."""
    block = http.post("/rag/stream", json={"input": {"query": query}}).text.strip()
    assert block.startswith("event: error\ndata: ")
    body = json.loads(block.partition("data: ")[2])
    assert (body["error"], body["details"]) == ("VALIDATION_ERROR", {"field": "query"})
    remote: RemoteRunnable[Any, Any] = RemoteRunnable(str(http.base_url.join("/rag/")))
    with pytest.raises(httpx.HTTPStatusError, match="2000 characters") as raised:
        list(remote.stream({"query": query}))
    assert raised.value.response.status_code == 400


def test_batch_answers_in_order_and_is_bounded(http: httpx.Client) -> None:
    """``/rag/batch`` answers each question in its place; a 33rd question is one too many."""
    remote: RemoteRunnable[Any, Any] = RemoteRunnable(str(http.base_url.join("/rag/")))
    first, second = remote.batch([{"query": CHEMICALS}, {"query": OFF_TOPIC}])
    assert "goggles" in first["answer"]
    assert second["answer"] == NOTHING_FOUND
    response = http.post("/rag/batch", json={"inputs": [{"query": "x"}] * 33})
    assert (response.status_code, response.json()["details"]) == (400, {"field": "inputs"})


Q = {"query": CHEMICALS}
NOT_BATCH = ("invoke", "stream", "stream_events", "stream_log")


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        *(("batch", {"inputs": [Q, given]}, "inputs") for given in (None, "x", 5, [])),
        *(("batch", {"inputs": [Q], "config": config}, "config") for config in (None, 5, [None], [], [{}, {}])),
        *((path, {"input": Q, "config": None}, "config") for path in NOT_BATCH),
        *((path, {"input": None}, "input") for path in NOT_BATCH),
        *(("invoke", {"input": {**Q, "includeEvidence": odd}}, "includeEvidence") for odd in (1, 0, "no", [])),
        ("stream", {"input": {**Q, "includeEvidence": 1}}, "includeEvidence"),
        ("batch", {"inputs": [{**Q, "includeEvidence": 1}]}, "includeEvidence"),
    ],
)
def test_what_is_no_question_is_refused(http: httpx.Client, path: str, body: dict[str, Any], field: str) -> None:
    """A question or a config of another type, or a flag that is none, is 400 and names the field, on every path."""
    response = http.post(f"/rag/{path}", json=body)
    assert (response.status_code, response.json()["error"]) == (400, "VALIDATION_ERROR")
    assert response.json()["details"] == {"field": field}


@pytest.mark.parametrize("path", ["invoke", "batch", "stream", "stream_events", "stream_log"])
@pytest.mark.parametrize(
    "odd",
    [b"-9223372036854775809", b"1" * 5000, b'"\\ud800"', b"[" * 1000 + b"]" * 1000],
    ids=["integer", "digits", "text", "deep"],
)
def test_what_cannot_be_written_into_an_event_is_refused(http: httpx.Client, path: str, odd: bytes) -> None:
    """JSON that LangServe's parser or its events cannot hold is 400, before any event, wherever it stands."""
    question = b'{"query": "What is grass?", "maxSources": %s}' % odd
    body = b'{"inputs": [%s]}' % question if path == "batch" else b'{"input": %s}' % question
    response = http.post(f"/rag/{path}", content=body, headers={"Content-Type": "application/json"})
    assert (response.status_code, response.json()["error"]) == (400, "VALIDATION_ERROR")


async def test_events_show_our_runnable_and_not_the_nodes(address: str) -> None:
    """``/rag/stream_events`` tells of the one public Runnable; the graph's nodes and chunks do not show."""
    remote: RemoteRunnable[Any, Any] = RemoteRunnable(f"{address}/rag/")
    seen = [event async for event in remote.astream_events({"query": CHEMICALS}, version="v2")]
    assert {event["event"] for event in seen} >= {"on_chain_start", "on_chain_stream", "on_chain_end"}
    served = {event["name"] for event in seen}
    assert not served & {"validate", "retrieve", "grade", "synthesize", "cite"}
    assert not any(word in str(seen) for word in INTERNALS)


@pytest.mark.parametrize("query", [CHEMICALS, OFF_TOPIC])
def test_what_a_stream_adds_up_to_is_the_public_answer(http: httpx.Client, query: str) -> None:
    """The last event's output, and the ``final_output`` of a log, are ``/query``'s body; its tokens are not in it."""
    plain = untimed(http.post("/query", json={"query": query}).json())
    events = sent(http.post("/rag/stream_events", json={"input": {"query": query}}))
    assert events[-1]["event"] == "on_chain_end"
    assert untimed(events[-1]["data"]["output"]) == plain
    log = sent(http.post("/rag/stream_log", json={"input": {"query": query}}))
    state = jsonpatch.apply_patch(None, [step for patch in log for step in patch["ops"]])
    assert untimed(state["final_output"]) == plain
    assert [untimed(piece) for piece in state["streamed_output"]] == [plain]


@pytest.mark.parametrize(
    ("query", "nodes", "end"),
    [
        (CHEMICALS, ["validate", "retrieve", "grade", "synthesize", "cite"], "answered, 1 citation "),
        (OFF_TOPIC, ["validate", "retrieve", "grade", "no_answer"], "no_relevant_chunks "),
        (" ", ["validate", "fail"], "invalid_input "),
    ],
)
def test_a_log_sums_up_each_node_without_document_text(
    http: httpx.Client, query: str, nodes: list[str], end: str
) -> None:
    """``/rag/stream_log`` has an entry for each node that ran: name, times and counts, and no text of a chunk."""
    log = sent(http.post("/rag/stream_log", json={"input": {"query": query}}))
    entries = jsonpatch.apply_patch(None, [step for patch in log for step in patch["ops"]])["logs"]
    assert list(entries) == nodes
    assert all(entry["start_time"] <= entry["end_time"] for entry in entries.values())
    assert entries[nodes[-1]]["final_output"].startswith(end)
    if "grade" in nodes:
        assert re.fullmatch(
            r"10 chunks retrieved, best similarity 0\.\d\d \(.+ ms\)", entries["retrieve"]["final_output"]
        )
        assert re.fullmatch(
            r"\d of 10 chunks passed, best relevance \d\.\d\d \(.+ ms\)", entries["grade"]["final_output"]
        )
    assert not any(word in str(entries) for word in (*INTERNALS, "goggles"))


def sent(response: httpx.Response) -> list[Any]:
    """The data of the events of a stream, but for the empty end."""
    lines = (line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: "))
    return [json.loads(line) for line in lines if line]


def test_schemas_show_the_question_and_the_answer(http: httpx.Client) -> None:
    """The schemas are those of the public objects, so the playground's form shows the question."""
    properties = http.get("/rag/input_schema").json()["properties"]
    assert properties["query"]["type"] == "string"
    assert set(http.get("/rag/output_schema").json()["properties"]) >= {"answer", "citedDocuments", "metadata"}


def test_the_playground_is_found_without_its_slash(http: httpx.Client) -> None:
    """The address a person types leads to the page."""
    page = http.get("/rag/playground", follow_redirects=True)
    assert (page.status_code, page.headers["content-type"].split(";")[0]) == (200, "text/html")


@pytest.mark.parametrize("path", ["assets/nope.js", "assets", "..%2f..%2f__init__.py", "%00", "x" * 3000])
def test_a_file_the_playground_has_not_is_404(http: httpx.Client, path: str) -> None:
    """A missing file, a folder, and a path out of the playground are 404 in the one error body."""
    response = http.get(f"/rag/playground/{path}")
    assert (response.status_code, response.json()["error"]) == (404, "NOT_FOUND")
