"""Query API, the rest of document Q clause by clause: its examples, its pipeline, its settings, its log."""

from __future__ import annotations

import asyncio
import json
import logging
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from answering.markers.draft import read_draft
from answering.types import Draft
from app.bootstrap.compose import AppContainer, build_container
from app.ingest.pipeline import ingest_into
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from graph.errors import RerankFailed, StoreUnavailable
from tests.app.api.one_chunk import OneChunkStore, served
from tests.app.api.test_query_api import CHEMICALS, BrokenStore, post
from tests.app.api.test_query_stream import events
from tests.contract.scripted_graph import Says, ask, chunk
from tests.support.samples_service import serve

LARKFIELD = "The lighthouse of Larkfield stands on the northern pier and was lit in 1871."


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gardens without a ``DATA_DIR`` of their own keep nothing in the checkout."""
    monkeypatch.chdir(tmp_path)


def test_the_documents_request_is_answered(http: httpx.Client) -> None:
    """The document's example request: JSON, at most five chunks, the topology from the deployment guide."""
    response = post(http, query="What is the recommended deployment topology?", maxSources=5)
    assert (response.status_code, response.headers["content-type"]) == (200, "application/json")
    body = response.json()
    assert "active-passive" in body["answer"]
    assert body["citedDocuments"][0]["id"] == "deployment-guide.md"
    types = {name: type(value) for name, value in body["metadata"].items()}
    assert types == {"processingTimeMs": int, "answerSynthesized": bool, "chunksRetrieved": int}
    assert body["metadata"]["chunksRetrieved"] == 5


def test_the_documents_error_is_answered(http: httpx.Client) -> None:
    """The document's example error, word for word."""
    assert post(http, query=" ").json() == {
        "error": "VALIDATION_ERROR",
        "message": "Query must be non-blank and at most 2000 characters.",
        "details": {"field": "query"},
    }


def test_invalid_input_is_refused_before_anything_is_asked(tmp_path: Path, embedding: EmbeddingModel) -> None:
    """A broken rule is 400 even where the store is down: nothing was retrieved for it."""
    store = BrokenStore(StoreUnavailable("It is down."))
    container = build_container(load_settings(data_dir=tmp_path), embedding=embedding, store=store)
    with serve(container) as address:
        assert httpx.post(f"{address}/query", json={"query": ""}, timeout=30).status_code == 400
        assert httpx.post(f"{address}/query", json={"query": "x"}, timeout=30).status_code == 503


class Told(Says):
    """A model that notes which chunks it was given."""

    async def synthesize(self, question: Any, chunks: Any, retrieved: Any, emit: Any) -> Draft:
        self.given = [chunk.relevance for chunk in chunks]
        return await super().synthesize(question, chunks, retrieved, emit)


async def test_only_chunks_at_or_above_the_threshold_reach_the_model() -> None:
    """Of relevances .79, .8 and .95 the last two go on, by 0.8 by default; ``chunks`` counts all three."""
    text = "The red pump moves 40 litres each minute."
    chunks = [replace(chunk(str(relevance), text), relevance=relevance) for relevance in (0.95, 0.8, 0.79)]
    model = Told(f"{text} [1]")
    state = await ask(chunks, model)
    assert model.given == [0.95, 0.8]
    assert (state["outcome"], len(state["chunks"])) == ("answered", 3)


async def test_below_the_threshold_the_model_is_not_asked() -> None:
    """All below is as no chunk at all: no answer, and no call."""
    model = Told("Never said.")
    state = await ask([replace(chunk("a", "Pumps."), relevance=0.7999)], model)
    assert (state["outcome"], hasattr(model, "given")) == ("no_relevant_chunks", False)


@pytest.fixture
def larkfield(tmp_path: Path, embedding: EmbeddingModel) -> AppContainer:
    """A collection of one JSON Lines row with a chunk id and an address of its own."""
    row = {
        "document_id": "towns/larkfield", "title": "Larkfield", "text": LARKFIELD, "url": "https://towns.test/larkfield",
        "chunk_id": "larkfield-7",
    }  # fmt: skip
    source = tmp_path / "towns.jsonl"
    source.write_text(json.dumps(row), "utf-8")
    settings = load_settings(data_dir=tmp_path / "data", max_query_chars=40)
    container = build_container(settings, embedding=embedding)
    asyncio.run(ingest_into(container.writer, [source]))
    return container


def words(*values: Any) -> set[str]:
    """The words in *values*, however deep. A figure is none: milliseconds may have any digits."""
    found: set[str] = set()
    for value in values:
        if isinstance(value, dict):
            found |= words(*value, *value.values())
        elif isinstance(value, (list, tuple, set)):
            found |= words(*value)
        elif not isinstance(value, (int, float)):
            found |= set(re.findall(r"[\w-]+", str(value)))
    return found


def values_of(record: logging.LogRecord) -> set[str]:
    """The words of message, failure and further fields: not of the clock, the process, the thread and the like."""
    of_every_record = vars(logging.makeLogRecord({})).keys() | {"message", "asctime", "taskName"}
    further = {name: value for name, value in vars(record).items() if name not in of_every_record}
    return words(record.getMessage(), record.exc_info and record.exc_info[1], further)


def test_ids_title_and_url_are_the_documents_own(larkfield: AppContainer, caplog: pytest.LogCaptureFixture) -> None:
    """Document id, title and url as stored, the row's own chunk id, the text as snippet; MAX_QUERY_CHARS is the bound.

    The log has the request's id and outcome, and of question and answer not a word.
    """
    caplog.set_level(logging.DEBUG, "garden")
    with serve(larkfield) as address, httpx.Client(base_url=address, timeout=30) as http:
        asked = {"query": "When was the lighthouse lit?", "includeEvidence": True}
        body = http.post("/query", json=asked, headers={"X-Request-ID": "mine-1"}).json()
        refused = http.post("/query", json={"query": "x" * 41}, headers={"X-Request-ID": "mine-2"})
        longest = http.post("/query", json={"query": "x" * 40}, headers={"X-Request-ID": "mine-4"})
        assert longest.status_code == 200
        assert http.post("/query", content=b"{", headers={"X-Request-ID": "mine-3"}).status_code == 400
    assert body["citedDocuments"] == [
        {
            "id": "towns/larkfield",
            "title": "Larkfield",
            "snippet": LARKFIELD,
            "url": "https://towns.test/larkfield",
        }
    ]
    assert body["evidence"][0]["chunkId"] == "larkfield-7"
    assert body["metadata"]["requestId"] == "mine-1"
    assert refused.json()["message"] == "Query must be non-blank and at most 40 characters."
    records = [record for record in caplog.records if record.name.startswith("garden")]
    logged = [vars(record) for record in records]
    outcomes = {entry.get("request_id"): entry.get("outcome") for entry in logged if "outcome" in entry}
    assert outcomes["mine-1"] == "answered"
    assert outcomes["mine-2"] == outcomes["mine-3"] == "invalid_input"
    assert "lighthouse" not in str(logged)
    assert "Larkfield" not in str(logged)
    reported = set().union(*map(values_of, records))
    assert {"request", "mine-1", "retrieve", "InvalidInput"} <= reported
    assert not reported & {"northern", "pier", "lit", "1871"}


class Slow:
    """A synthesizer that takes its time."""

    async def synthesize(self, question: Any, chunks: Any, retrieved: Any, emit: Any) -> Draft:
        await asyncio.sleep(0.3)
        return Draft(read_draft(f"{chunks[0].sentences[0]} [1]", chunks), confidence=0.9)


def test_processing_time_is_the_whole(embedding: EmbeddingModel, http: httpx.Client) -> None:
    """processingTimeMs holds the model's time too."""
    with served(embedding, http, Slow()) as (_, address):
        body = httpx.post(f"{address}/query", json={"query": CHEMICALS}, timeout=30).json()
    assert body["metadata"]["answerSynthesized"] is True
    assert body["metadata"]["processingTimeMs"] >= 300


class Faints:
    """A reranker that does not answer."""

    async def grade(self, question: Any, retrieved: Any) -> Any:
        raise RerankFailed("The reranker did not answer.")


@pytest.mark.parametrize("path", ["/query", "/query/stream", "/rag/invoke"])
def test_a_rerank_failure_has_its_status(embedding: EmbeddingModel, http: httpx.Client, path: str) -> None:
    """A reranker that fails is 503 RETRIEVAL_FAILED in the one body, before any stream begins."""
    container = build_container(load_settings(), embedding=embedding, store=OneChunkStore(http), grader=Faints())
    asked = {"query": CHEMICALS}
    with serve(container) as address:
        response = httpx.post(
            f"{address}{path}", json={"input": asked} if path.startswith("/rag") else asked, timeout=30
        )
    assert (response.status_code, response.json()) == (
        503, {"error": "RETRIEVAL_FAILED", "message": "The reranker did not answer.", "details": {}},
    )  # fmt: skip


def test_the_stream_holds_back_half_a_marker(http: httpx.Client) -> None:
    """No token ever ends inside a marker, and the tokens joined read as the answer does."""
    reported = events(http.post("/query/stream", json={"query": CHEMICALS}))
    tokens = [data["text"] for name, data in reported if name == "token"]
    assert all(text.count("[") == text.count("]") for text in tokens)
    assert "".join(tokens).count("[1]") == reported[-1][1]["answer"].count("[1]")
