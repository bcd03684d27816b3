"""Query API: ``POST /query``, clause by clause of the contract, over a real socket."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from app.bootstrap.compose import build_container
from app.providers.embeddings.models import EmbeddingModel
from app.providers.stores.chunk_store import ChunkStore
from app.settings import load_settings
from graph.errors import CollectionMissing, ConfigurationError, StoreUnavailable
from graph.nodes.answer import NOTHING_FOUND
from tests.support.samples_service import serve

CHEMICALS = "What are the safety protocols for handling chemicals?"
OFF_TOPIC = "Which composer wrote the opera Tosca?"


def post(http: httpx.Client, **fields: Any) -> httpx.Response:
    return http.post("/query", json=fields)


def test_success_body_has_exactly_the_documented_members(http: httpx.Client) -> None:
    """A success body holds answer, citedDocuments and metadata, and nothing that was not asked for."""
    body = post(http, query=CHEMICALS).json()
    assert set(body) == {"answer", "citedDocuments", "metadata"}
    assert set(body["metadata"]) == {"processingTimeMs", "answerSynthesized", "chunksRetrieved"}
    assert [set(document) for document in body["citedDocuments"]] == [{"id", "title", "snippet", "url"}]
    assert body["metadata"]["answerSynthesized"] is True
    assert body["metadata"]["processingTimeMs"] >= 1
    assert "goggles" in body["answer"]


def test_every_marker_is_an_entry_of_cited_documents(http: httpx.Client) -> None:
    """``[k]`` in the answer is the k-th of citedDocuments, first cited first, one entry a document."""
    body = post(http, query="How many vacation days are there, and what must be worn when handling chemicals?").json()
    markers = [int(k) for k in re.findall(r"\[(\d+)\]", body["answer"])]
    assert markers
    assert list(dict.fromkeys(markers)) == list(range(1, len(body["citedDocuments"]) + 1))
    ids = [document["id"] for document in body["citedDocuments"]]
    assert len(ids) == len(set(ids))


def test_evidence_quotes_stand_at_their_offsets(http: httpx.Client) -> None:
    """With includeEvidence, each quote is exactly the stored chunk at start:end, its sentence is in the answer, and
    the answer's brackets at ``markers`` are its citation."""
    body = post(http, query=CHEMICALS, includeEvidence=True).json()
    assert set(body["metadata"]) >= {"outcome", "requestId", "stageTimingsMs"}
    assert body["metadata"]["outcome"] == "answered"
    plain = re.sub(r"\s*\[\d+\]", "", body["answer"])
    assert body["evidence"]
    for row in body["evidence"]:
        assert set(row) == {
            "marker", "documentId", "chunkId", "sentence", "quote", "start", "end", "support", "markers",
        }  # fmt: skip
        stored = http.get(f"/api/v1/chunks/{quote(row['chunkId'], safe='')}").json()["text"]
        assert stored[row["start"] : row["end"]] == row["quote"]
        assert row["sentence"] in plain
        assert row["markers"]
        assert {body["answer"][start:end] for start, end in row["markers"]} == {f"[{row['marker']}]"}
        assert body["citedDocuments"][row["marker"] - 1]["id"] == row["documentId"]
        assert 0.5 <= row["support"] <= 1


@pytest.mark.parametrize(
    "text",
    [
        "I was asked about this yesterday. {}",
        "Hi team, hope you are well. {} Thanks!",
        "Good morning! It came up in our meeting on Tuesday, and nobody was sure.\n\n{}\n\nBest regards,\nAda",
    ],
)
def test_what_is_said_around_a_question_costs_no_answer(http: httpx.Client, text: str) -> None:
    """Greeting, background and thanks change neither the answer nor what it cites, nor that a question is declined."""
    for question in (CHEMICALS, OFF_TOPIC):
        alone, around = (post(http, query=text_).json() for text_ in (question, text.format(question)))
        assert (around["answer"], around["citedDocuments"]) == (alone["answer"], alone["citedDocuments"])


def test_background_that_the_question_needs_is_searched_and_read(http: httpx.Client) -> None:
    """A question that says too little by itself is answered by what stands before it."""
    alone = "How fast do I need to tell someone?"
    assert post(http, query=alone).json()["metadata"]["answerSynthesized"] is False
    body = post(http, query=f"Somebody stole my notebook computer on the train. {alone}").json()
    assert "within one hour" in body["answer"]


def test_off_topic_question_is_declined_not_failed(http: httpx.Client) -> None:
    """A question the documents do not answer is 200 with a plain sentence and no citation."""
    response = post(http, query=OFF_TOPIC)
    assert response.status_code == 200
    body = response.json()
    assert body["answer"] == NOTHING_FOUND
    assert body["citedDocuments"] == []
    assert body["metadata"]["answerSynthesized"] is False
    assert body["metadata"]["chunksRetrieved"] == 10


def test_a_declined_question_shows_the_closest_passages(http: httpx.Client) -> None:
    """With evidence asked for, a declined question has at most three passages, nearest first, and still no citation."""
    body = post(http, query=OFF_TOPIC, includeEvidence=True).json()
    assert body["evidence"] == []
    assert 1 <= len(body["closest"]) <= 3
    assert all(set(chunk) == {"chunkId", "documentId", "title", "text", "relevance"} for chunk in body["closest"])
    relevances = [chunk["relevance"] for chunk in body["closest"]]
    assert relevances == sorted(relevances, reverse=True)
    assert "closest" not in post(http, query=CHEMICALS, includeEvidence=True).json()
    assert "closest" not in post(http, query=OFF_TOPIC).json()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "query"),
        ({"query": None}, "query"),
        ({"query": "   "}, "query"),
        ({"query": 5}, "query"),
        ({"query": ["x"]}, "query"),
        ({"query": "x" * 2001}, "query"),
        ({"query": "x", "maxSources": "5"}, "maxSources"),
        ({"query": "x", "maxSources": True}, "maxSources"),
        ({"query": "x", "maxSources": 5.0}, "maxSources"),
        ({"query": "x", "maxSources": 5.5}, "maxSources"),
        ({"query": "x", "maxSources": 0}, "maxSources"),
        ({"query": "x", "maxSources": 51}, "maxSources"),
        ({"query": "x", "maxSources": -1}, "maxSources"),
        ({"query": "x", "maxTokens": 0}, "maxTokens"),
        ({"query": "x", "maxTokens": 4097}, "maxTokens"),
        ({"query": "x", "maxTokens": 10**30}, "maxTokens"),
        ({"query": "x", "includeEvidence": "true"}, "includeEvidence"),
        ({"query": "x", "includeEvidence": 1}, "includeEvidence"),
        ({"query": "x", "source": 5}, "source"),
    ],
)
def test_broken_rule_names_its_field(http: httpx.Client, fields: dict[str, Any], field: str) -> None:
    """Every broken rule is 400 VALIDATION_ERROR with the field in details."""
    response = http.post("/query", json=fields)
    assert response.status_code == 400
    body = response.json()
    assert set(body) == {"error", "message", "details"}
    assert body["error"] == "VALIDATION_ERROR"
    assert body["details"]["field"] == field


@pytest.mark.parametrize("query", ["x" * 2000, "😀" * 2000, f"  {'é' * 2000}  ", "x"])
def test_length_counts_code_points_after_trimming(http: httpx.Client, query: str) -> None:
    """2000 code points pass, whatever their size in bytes, and white space around them does not count."""
    assert post(http, query=query).status_code == 200


def test_null_is_as_absent_and_unknown_fields_are_ignored(http: httpx.Client) -> None:
    """Null options take their defaults, and unknown members change nothing."""
    response = post(
        http,
        query=CHEMICALS,
        maxSources=None,
        maxTokens=None,
        includeEvidence=None,
        colour="green",
        requestId=5,
        source=None,
    )
    assert response.status_code == 200
    assert response.json()["metadata"]["chunksRetrieved"] == 10


@pytest.mark.parametrize("most", [1, 3, 50])
def test_max_sources_bounds_what_is_retrieved(http: httpx.Client, most: int) -> None:
    """chunksRetrieved never exceeds maxSources."""
    assert post(http, query=CHEMICALS, maxSources=most).json()["metadata"]["chunksRetrieved"] <= most


@pytest.mark.parametrize(
    ("content", "kind", "field"),
    [
        (b"{", "application/json", "body"),
        (b"", "application/json", "body"),
        (b"[]", "application/json", "body"),
        (b'"x"', "application/json", "body"),
        (b"null", "application/json", "body"),
        (b'{"query": "\\ud800"}', "application/json", "query"),
        (b'{"query": NaN}', "application/json", "query"),
        (b"\xff\xfe", "application/json", "body"),
        (b"[" * 100_000, "application/json", "body"),
        (b'{"query": "x", "page": ' + b"7" * 5_000 + b"}", "application/json", "body"),
        (b'{"query": "x"}', "text/plain", "Content-Type"),
        (b'{"query": "x"}', "", "Content-Type"),
        (b"query=x", "application/x-www-form-urlencoded", "Content-Type"),
    ],
)
@pytest.mark.parametrize("path", ["/query", "/v1/chat/completions"])
def test_what_is_no_json_object_is_a_validation_error(
    http: httpx.Client, path: str, content: bytes, kind: str, field: str
) -> None:
    """Malformed JSON, a non-object body, a wrong or missing content type: 400 and its place, never 422 nor 500."""
    response = http.post(path, content=content, headers={"Content-Type": kind} if kind else {})
    error, body = response.json()["error"], response.json()
    assert (response.status_code, error if path == "/query" else error["code"]) == (400, "VALIDATION_ERROR")
    assert body["details"]["field"] == (field if path == "/query" or field != "query" else "model")


def test_content_type_may_carry_a_charset(http: httpx.Client) -> None:
    """``application/json; charset=utf-8`` is JSON too."""
    response = http.post(
        "/query", content=b'{"query": "x"}', headers={"Content-Type": "Application/JSON; charset=utf-8"}
    )
    assert response.status_code == 200


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "NOT_FOUND"),
        ("GET", "/query/", 404, "NOT_FOUND"),
        ("GET", "/query", 405, "METHOD_NOT_ALLOWED"),
        ("DELETE", "/query", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/rag/invoke", 405, "METHOD_NOT_ALLOWED"),
    ],
)
def test_every_path_has_the_one_error_body(http: httpx.Client, method: str, path: str, status: int, code: str) -> None:
    """Wrong paths and methods have the same body and a request id."""
    response = http.request(method, path)
    assert (response.status_code, response.json()["error"]) == (status, code)
    assert response.json()["details"] == {}
    assert response.headers["x-request-id"].startswith("req_")


@pytest.mark.parametrize("path", ["/", "/docs", "/health", "/health/live", "/health/ready", "/page/main.js"])
def test_what_a_browser_or_a_probe_gets_has_a_head(http: httpx.Client, path: str) -> None:
    """HEAD is GET without the body; where there is nothing to look at, it is 405 like any other method."""
    head, got = http.head(path), http.get(path)
    assert (head.status_code, head.content, got.status_code) == (200, b"", 200)
    assert head.headers["content-type"] == got.headers["content-type"]
    assert http.head("/query").status_code == 405


@pytest.mark.parametrize("chunked", [False, True])
def test_body_past_a_mebibyte_is_413(http: httpx.Client, chunked: bool) -> None:
    """A body larger than 1 MiB is refused, announced or not; one of exactly 1 MiB is read."""
    large = b'{"query": "x", "pad": "' + b"p" * (1024 * 1024) + b'"}'
    content: Any = iter([large[:1000], large[1000:]]) if chunked else large
    response = http.post("/query", content=content, headers={"Content-Type": "application/json"})
    assert response.status_code == 413
    assert response.json()["error"] == "PAYLOAD_TOO_LARGE"
    exact = b'{"query": "x", "pad": "' + b"p" * (1024 * 1024 - 25) + b'"}'
    assert len(exact) == 1024 * 1024
    assert http.post("/query", content=exact, headers={"Content-Type": "application/json"}).status_code == 200


@pytest.mark.parametrize(("given", "kept"), [("abc-123", True), ("x" * 128, True), ("x" * 129, False), ("é", False)])
def test_a_printable_request_id_is_kept(http: httpx.Client, given: str, kept: bool) -> None:
    """A client's own X-Request-ID of at most 128 printable characters comes back, in header and metadata."""
    response = http.post(
        "/query", json={"query": CHEMICALS, "includeEvidence": True}, headers={"X-Request-ID": given.encode("latin-1")}
    )
    reported = response.headers["x-request-id"]
    assert (reported == given) is kept
    assert response.json()["metadata"]["requestId"] == reported


def test_same_question_same_answer(http: httpx.Client) -> None:
    """The extractive answer is deterministic."""
    bodies = [post(http, query=CHEMICALS).json() for _ in range(3)]
    assert all(body["answer"] == bodies[0]["answer"] for body in bodies)
    assert all(body["citedDocuments"] == bodies[0]["citedDocuments"] for body in bodies)


def test_empty_collection_is_no_answer(tmp_path: Path, embedding: EmbeddingModel) -> None:
    """An empty collection declines: 200, chunksRetrieved 0, no outage."""
    with serve(build_container(load_settings(data_dir=tmp_path), embedding=embedding)) as address:
        response = httpx.post(f"{address}/query", json={"query": CHEMICALS}, timeout=30)
    assert response.status_code == 200
    assert response.json()["metadata"] | {"processingTimeMs": 0} == {
        "processingTimeMs": 0, "answerSynthesized": False, "chunksRetrieved": 0,
    }  # fmt: skip


@ChunkStore.register
class BrokenStore:
    """A store whose every search fails with a given error."""

    notes = ()

    def __init__(self, error: Exception) -> None:
        self.error = error

    async def ahybrid(self, *_: Any, **__: Any) -> Any:
        raise self.error

    async def acount(self) -> int:
        return 0

    async def aprobe(self) -> None:
        raise self.error

    async def aclose(self) -> None:
        return None


@pytest.mark.parametrize("error", [StoreUnavailable("It is down."), CollectionMissing("It is not there.")])
def test_an_outage_is_never_nothing_found(tmp_path: Path, embedding: EmbeddingModel, error: Exception) -> None:
    """A store that fails, or lacks the collection, is 503 RETRIEVAL_FAILED, and readiness says why."""
    container = build_container(load_settings(data_dir=tmp_path), embedding=embedding, store=BrokenStore(error))  # type: ignore[arg-type]
    with serve(container) as address:
        response = httpx.post(f"{address}/query", json={"query": CHEMICALS}, timeout=30)
        ready = httpx.get(f"{address}/health/ready", timeout=30)
        health = httpx.get(f"{address}/health", timeout=30)
    assert (response.status_code, response.json()["error"]) == (503, "RETRIEVAL_FAILED")
    assert ready.status_code == 503
    assert str(error) in ready.json()["message"]
    assert (health.status_code, health.json()["status"]) == (503, "unhealthy")


@pytest.mark.parametrize("kind", [RuntimeError, ConfigurationError])
def test_a_defect_is_500_without_a_word_of_it(tmp_path: Path, embedding: EmbeddingModel, kind: type[Exception]) -> None:
    """An unknown exception, or a wrong setting of ours, is INTERNAL_ERROR, and nothing of it reaches the client."""
    store = BrokenStore(kind("secret-in-the-trace"))
    container = build_container(load_settings(data_dir=tmp_path), embedding=embedding, store=store)  # type: ignore[arg-type]
    with serve(container) as address:
        response = httpx.post(f"{address}/query", json={"query": CHEMICALS}, timeout=30)
    assert (response.status_code, response.json()["error"]) == (500, "INTERNAL_ERROR")
    assert "secret" not in response.text
    assert response.headers["x-request-id"]


def test_keys_guard_every_interface_but_health(sample_data_copy: Path, embedding: EmbeddingModel) -> None:
    """With API_KEYS set, an interface wants one of them as Bearer or X-API-Key, and a wrong one is 401."""
    settings = load_settings(data_dir=sample_data_copy, api_keys="alpha, beta")
    with (
        serve(build_container(settings, embedding=embedding)) as address,
        httpx.Client(base_url=address, timeout=30) as client,
    ):
        body = {"query": CHEMICALS}
        assert client.post("/query", json=body).status_code == 401
        assert client.post("/query", json=body).json()["error"] == "UNAUTHORIZED"
        assert client.post("/query", json=body, headers={"X-API-Key": "gamma"}).status_code == 401
        assert client.post("/query", json=body, headers={"Authorization": "Basic alpha"}).status_code == 401
        assert client.post("/query", json=body, headers={"X-API-Key": "alpha"}).status_code == 200
        assert client.post("/query", json=body, headers={"Authorization": "Bearer beta"}).status_code == 200
        assert client.get("/docs").status_code == 401
        assert client.get("/healthz").status_code == 401
        assert client.get("/health/live").status_code == 200


@pytest.fixture
def sample_data_copy(tmp_path: Path) -> Path:
    """A data folder of its own."""
    return tmp_path / "own"
