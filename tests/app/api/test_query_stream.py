"""Query API: ``POST /query/stream``."""

from __future__ import annotations

import asyncio
import socket
import threading
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from answering.markers.draft import read_draft
from answering.types import Draft
from app.bootstrap.compose import build_container
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from graph.errors import StoreUnavailable, SynthesisFailed
from tests.app.api.one_chunk import OneChunkStore, served
from tests.app.api.test_query_api import CHEMICALS, OFF_TOPIC, BrokenStore
from tests.support.samples_service import serve, wait_until


def events(response: httpx.Response) -> list[tuple[str, dict[str, Any]]]:
    """The server-sent events of a finished stream."""
    found = []
    for block in response.text.strip().split("\n\n"):
        name, data = block.split("\n")
        found.append((name.removeprefix("event: "), orjson.loads(data.removeprefix("data: "))))
    return found


def test_stream_brings_retrieval_tokens_and_the_answer(http: httpx.Client) -> None:
    """One retrieval event, tokens and verified sentences, and one answer: that of /query but for its time."""
    response = http.post("/query/stream", json={"query": CHEMICALS})
    assert response.headers["content-type"].startswith("text/event-stream")
    reported = events(response)
    names = [name for name, _ in reported]
    assert names[0] == "retrieval"
    assert names[-1] == "answer"
    assert set(names[1:-1]) == {"token", "verified"}
    assert set(reported[0][1]["chunks"][0]) == {"chunkId", "documentId", "title", "similarity", "relevance"}
    answer, plain = reported[-1][1], http.post("/query", json={"query": CHEMICALS}).json()
    answer["metadata"].pop("processingTimeMs")
    plain["metadata"].pop("processingTimeMs")
    assert answer == plain


def test_stream_of_a_declined_question_ends_in_an_answer(http: httpx.Client) -> None:
    """Nothing relevant is an answer event with answerSynthesized false, and no token was shown before it."""
    reported = events(http.post("/query/stream", json={"query": OFF_TOPIC}))
    assert [name for name, _ in reported] == ["retrieval", "answer"]
    assert reported[-1][1]["metadata"]["answerSynthesized"] is False


def test_invalid_input_has_its_status(http: httpx.Client) -> None:
    """Invalid input is refused before the stream begins: 400 in the one body."""
    response = http.post("/query/stream", json={"query": ""})
    assert (response.status_code, response.json()["error"]) == (400, "VALIDATION_ERROR")


def test_retrieval_failure_has_its_status(tmp_path: Path, embedding: EmbeddingModel) -> None:
    """A store that fails is 503 before the stream begins."""
    store = BrokenStore(StoreUnavailable("It is down."))
    container = build_container(load_settings(data_dir=tmp_path), embedding=embedding, store=store)  # type: ignore[arg-type]
    with serve(container) as address:
        response = httpx.post(f"{address}/query/stream", json={"query": CHEMICALS}, timeout=30)
    assert (response.status_code, response.json()["error"]) == (503, "RETRIEVAL_FAILED")


class Faint:
    """A synthesizer that says two words and fails."""

    async def synthesize(self, question: Any, chunks: Any, retrieved: Any, emit: Any) -> Draft:
        if emit:
            await emit("Well,")
        raise SynthesisFailed("The chat model gave up.")


def test_model_failure_after_retrieval_is_an_error_event(
    sample_data: Path, embedding: EmbeddingModel, http: httpx.Client
) -> None:
    """Once retrieval was sent, a failure of the model is an error event with the one body, and the last one."""
    with served(embedding, http, Faint()) as (_, address):
        response = httpx.post(f"{address}/query/stream", json={"query": CHEMICALS}, timeout=30)
        whole = httpx.post(f"{address}/query", json={"query": CHEMICALS}, timeout=30)
    reported = events(response)
    assert response.status_code == 200
    assert [name for name, _ in reported] == ["retrieval", "token", "error"]
    assert reported[1][1] == {"text": "Well,"}
    assert reported[2][1] == {"error": "SYNTHESIS_FAILED", "message": "The chat model gave up.", "details": {}}
    assert (whole.status_code, whole.json()) == (503, reported[2][1])


class Patient:
    """A synthesizer that writes until it is stopped, and says so."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.stopped = threading.Event()

    async def synthesize(self, question: Any, chunks: Any, retrieved: Any, emit: Any) -> Draft:
        self.begun.set()
        try:
            while True:
                if emit:
                    await emit("word ")
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            self.stopped.set()
            raise


PATHS = ["/query", "/query/stream", "/rag/invoke", "/rag/stream", "/rag/batch", "/v1/chat/completions"]


def leave(address: str, path: str, begun: threading.Event) -> None:
    """Ask at *path*, and close the connection when the work for it has *begun*."""
    host, port = address.removeprefix("http://").split(":")
    asked = {"query": CHEMICALS}
    bodies: dict[str, Any] = {
        "/rag/batch": {"inputs": [asked] * 3},
        "/rag/invoke": {"input": asked},
        "/rag/stream": {"input": asked},
        "/v1/chat/completions": {"model": "knowledge-garden", "messages": [{"role": "user", "content": CHEMICALS}]},
    }
    body = orjson.dumps(bodies.get(path, asked))
    length = f"Content-Length: {len(body)}"
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{length}\r\n\r\n"
    with socket.create_connection((host, int(port))) as client:
        client.sendall(head.encode() + body)
        assert begun.wait(20)


@pytest.mark.parametrize("path", PATHS)
def test_a_client_that_leaves_stops_the_model(embedding: EmbeddingModel, http: httpx.Client, path: str) -> None:
    """When the client closes the connection, the model's work is cancelled and its slot is free again."""
    patient = Patient()
    with served(embedding, http, patient, max_concurrent_requests=1) as (container, address):
        leave(address, path, patient.begun)
        assert patient.stopped.wait(20)
        wait_until(lambda: container.service.in_flight == 0)


class Flood:
    """A synthesizer that writes more than the sockets' buffers hold, and then until it is stopped."""

    async def synthesize(self, question: Any, chunks: Any, retrieved: Any, emit: Any) -> Draft:
        for _ in range(32):
            await emit("word " * (1 << 18))
        await asyncio.Event().wait()
        raise AssertionError


def test_a_client_that_reads_nothing_is_disconnected(embedding: EmbeddingModel, http: httpx.Client) -> None:
    """A stream that is not read ends with the time of a request, and its slot is free again."""
    body = orjson.dumps({"query": CHEMICALS})
    head = "POST /query/stream HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    with served(embedding, http, Flood(), max_concurrent_requests=1, request_timeout_seconds=2) as (container, address):
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as client:
            client.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            wait_until(lambda: container.service.in_flight == 1)
            wait_until(lambda: container.service.in_flight == 0)


class Slow(OneChunkStore):
    """A store that searches until it is stopped, and says so."""

    def __init__(self, http: httpx.Client) -> None:
        super().__init__(http)
        self.begun = threading.Event()
        self.stopped = threading.Event()

    async def ahybrid(self, queries: Any, limit: int, where: Any = None) -> Any:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.stopped.set()
            raise


@pytest.mark.parametrize("path", PATHS)
def test_a_client_that_leaves_ends_the_search(embedding: EmbeddingModel, http: httpx.Client, path: str) -> None:
    """A client that has seen nothing yet may leave too: what is searched for it is stopped, and its slot free."""
    store = Slow(http)
    with served(embedding, http, Patient(), store=store, max_concurrent_requests=1) as (container, address):
        leave(address, path, store.begun)
        assert store.stopped.wait(20)
        wait_until(lambda: container.service.in_flight == 0)


def test_past_the_slots_a_request_is_turned_away(embedding: EmbeddingModel, http: httpx.Client) -> None:
    """When every slot is taken, a request is 503 OVERLOADED with Retry-After, soon; a freed slot serves again."""
    patient = Patient()
    with (
        served(embedding, http, patient, max_concurrent_requests=1) as (container, address),
        httpx.Client(base_url=address, timeout=30) as client,
    ):
        with client.stream("POST", "/query/stream", json={"query": CHEMICALS}) as held:
            pieces = held.iter_raw()  # kept, since letting go of it would close the connection
            next(pieces)
            asked: dict[str, Any] = {"query": CHEMICALS}
            for path, body in (("/query", asked), ("/query/stream", asked), ("/rag/invoke", {"input": asked})):
                refused = client.post(path, json=body)
                assert (refused.status_code, refused.json()["error"]) == (503, "OVERLOADED")
                assert int(refused.headers["retry-after"]) >= 1
        wait_until(lambda: container.service.in_flight == 0)
        assert client.post("/query", json={"query": ""}).status_code == 400  # the graph has a slot for it again


class Choosy:
    """A synthesizer whose prompt did not hold three chunks."""

    async def synthesize(self, question: Any, chunks: Any, retrieved: Any, emit: Any) -> Draft:
        return Draft(read_draft(f"{chunks[0].sentences[0]} [1]", chunks), confidence=0.9, dropped_chunks=3)


def test_the_response_says_how_many_chunks_did_not_fit(embedding: EmbeddingModel, http: httpx.Client) -> None:
    """With includeEvidence, metadata.chunksDropped counts the chunks that the model's context did not hold."""
    with served(embedding, http, Choosy()) as (_, address):
        body = httpx.post(f"{address}/query", json={"query": CHEMICALS, "includeEvidence": True}, timeout=30).json()
    assert (body["metadata"]["outcome"], body["metadata"]["chunksDropped"]) == ("answered", 3)
