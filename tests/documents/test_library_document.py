"""The library, the rest of document L clause by clause: errors, thresholds, health, sample queries."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.bootstrap.compose import AppContainer, build_container
from app.pipeline.chat import ChatSynthesizer
from app.providers.chat.models import make_chat_model
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from graph.errors import StoreUnavailable
from rag_service import Answer, GenerationTimeout, NoCitationsFound, OllamaUnavailable, RAGService
from tests.app.api.test_query_api import CHEMICALS, BrokenStore
from tests.peers import Fault, OllamaPeer
from tests.support.paths import KNOWLEDGE
from tests.support.samples_service import serve

FIELDS = {"status", "ollama", "vector_store", "embedding_model", "timestamp"}


@pytest.fixture(scope="module")
def ollama() -> Iterator[OllamaPeer]:
    with OllamaPeer() as peer:
        yield peer


@contextmanager
def over(folder: Path, embedding: EmbeddingModel, ollama: OllamaPeer, seconds: float) -> Iterator[RAGService]:
    """A service over the documents in *folder*, whose answers Ollama writes within *seconds*."""
    settings = load_settings(
        data_dir=folder, ollama_host=ollama.url, chat_model="ollama:mistral:7b", ollama_timeout_seconds=seconds
    )
    container = build_container(settings, embedding=embedding, synthesizer=ChatSynthesizer(make_chat_model(settings)))
    with RAGService(settings=settings, container=container) as made:
        yield made


@pytest.fixture(scope="module")
def service(
    sample_data: Path, embedding: EmbeddingModel, ollama: OllamaPeer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RAGService]:
    """A service over a copy of the sample documents, whose answers Ollama writes."""
    folder = shutil.copytree(sample_data, tmp_path_factory.mktemp("document-l") / "data")
    with over(folder, embedding, ollama, 30.0) as made:
        yield made


@pytest.fixture(autouse=True)
def _well_again(ollama: OllamaPeer) -> Iterator[None]:
    yield
    ollama.fault = None
    ollama.answers = []


def failed(service: RAGService, kind: str) -> Answer:
    """The ``Answer`` of a failure, in the document's error response format."""
    answer = service.query(CHEMICALS)
    assert (answer.answer, answer.citations, answer.confidence) == (None, [], 0.0)
    assert answer.error_type == kind
    assert answer.error_details
    assert answer.message == "Service temporarily unavailable. Please try again."
    assert re.fullmatch(r"req_\w+", answer.request_id)
    assert isinstance(answer.processing_time_ms, int)
    return answer


def test_the_chain_of_the_document_works(service: RAGService, ollama: OllamaPeer) -> None:
    """Ollama's marker comes back as document and page, with a quote of the chunk and a score; JSON reads it again."""
    answer = service.query(CHEMICALS)
    assert answer.answer is not None
    assert re.search(r"\[safety_manual\.pdf, page \d+\]", answer.answer)
    (cited, *_) = answer.citations
    assert set(cited.model_dump()) == {"document", "page", "section", "chunk_id", "quote", "score"}
    assert 0.5 <= cited.score <= 1
    assert Answer.model_validate_json(answer.model_dump_json()) == answer


@pytest.mark.parametrize("place", ["page 3", "p.3", "section 4 Chemical handling"])
def test_citations_may_be_written_as_in_the_document(service: RAGService, ollama: OllamaPeer, place: str) -> None:
    """A model that cites by name and page, or by section, is matched to the chunk it was given."""
    sentence = service.query(CHEMICALS).citations[0].quote
    ollama.answers = [f"{sentence} [safety_manual.pdf, {place}]"]
    (cited, *_) = service.query(CHEMICALS).citations
    assert (cited.document, cited.quote) == ("safety_manual.pdf", sentence)


def test_no_citations_is_not_found(service: RAGService, ollama: OllamaPeer) -> None:
    """An answer without a citation is "I don't know": NoCitationsFound, the document's message, and no word of it."""
    ollama.answers = ["Everything is safe."] * 2
    answer = service.query(CHEMICALS)
    assert (answer.answer, answer.citations, answer.error_type) == (None, [], "NoCitationsFound")
    assert answer.message == "Information not found in the knowledge base."
    assert "safe" not in str(answer.error_details)
    with pytest.raises(NoCitationsFound):
        service.query(CHEMICALS, raise_on_error=True)


def test_a_missing_model_is_ollama_unavailable(service: RAGService, ollama: OllamaPeer) -> None:
    """Ollama without the model, and no Ollama at all, are OllamaUnavailable; raised, its status is 503."""
    ollama.fault = Fault("status", 404, path="/api/chat", times=1)
    failed(service, "OllamaUnavailable")
    ollama.fault = Fault("status", 404, path="/api/chat", times=1)
    with pytest.raises(OllamaUnavailable) as raised:
        service.query(CHEMICALS, raise_on_error=True)
    assert (raised.value.http_status, raised.value.answer.answer) == (503, None)
    assert service.query(CHEMICALS).answer, "a success between failures, so that they are not in a row"


def test_a_generation_that_takes_too_long_is_a_timeout(
    sample_data: Path, embedding: EmbeddingModel, ollama: OllamaPeer, tmp_path: Path
) -> None:
    """A model that drips is cut at OLLAMA_TIMEOUT_SECONDS in all: GenerationTimeout, which is 504."""
    ollama.fault = Fault("drip", path="/api/chat")
    with over(shutil.copytree(sample_data, tmp_path / "data"), embedding, ollama, 0.5) as hasty:
        failed(hasty, "GenerationTimeout")
        with pytest.raises(GenerationTimeout) as raised:
            hasty.query(CHEMICALS, raise_on_error=True)
    assert raised.value.http_status == 504


def test_below_the_confidence_nothing_is_answered(sample_data: Path, embedding: EmbeddingModel, tmp_path: Path) -> None:
    """Under MIN_CONFIDENCE_THRESHOLD the answer is None with the document's message, and it is no error."""
    shutil.copytree(sample_data, tmp_path / "data")
    settings = load_settings(data_dir=tmp_path / "data", min_confidence_threshold=1.0)
    with RAGService(settings=settings, container=build_container(settings, embedding=embedding)) as service:
        answer = service.query(CHEMICALS)
        (hit, *_) = service.retrieve(CHEMICALS).results
    assert hit.document_id == "safety_manual.pdf"
    assert (answer.answer, answer.citations, answer.error_type) == (None, [], None)
    assert answer.message == "Information not found in the knowledge base."


def test_the_sample_queries_hold(
    http: httpx.Client, sample_data: Path, embedding: EmbeddingModel, tmp_path: Path
) -> None:
    """Each of ``sample_queries.json`` cites an expected source, or has the expected message and no answer."""
    shutil.copytree(sample_data, tmp_path / "data")
    settings = load_settings(data_dir=tmp_path / "data")
    rows = json.loads((KNOWLEDGE / "sample_queries.json").read_text("utf-8"))
    asked = {row["question"] for row in rows}
    assert {CHEMICALS, "What is the company vacation policy?", "What is the meaning of life?"} <= asked
    with RAGService(settings=settings, container=build_container(settings, embedding=embedding)) as service:
        for row in rows:
            answer = service.query(row["question"])
            if "expected_message" in row:
                assert (answer.answer, answer.message) == (None, row["expected_message"]), row["question"]
            else:
                assert {cited.document for cited in answer.citations} <= set(row["expected_sources"]), row["question"]
                assert len(answer.citations) >= row["expected_citations_count"], row["question"]


def test_ollama_host_alone_chooses_ollama(tmp_path: Path, ollama: OllamaPeer, monkeypatch: pytest.MonkeyPatch) -> None:
    """With OLLAMA_MODEL it is that model, else the document's mistral:7b; CHAT_MODEL decides before both."""
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    for variables, model in (
        ({}, "ollama:mistral:7b"),
        ({"OLLAMA_MODEL": "llama3.2:1b"}, "ollama:llama3.2:1b"),
        ({"CHAT_MODEL": "extractive"}, "extractive"),
    ):
        with pytest.MonkeyPatch.context() as patch:
            for name, value in variables.items():
                patch.setenv(name, value)
            with RAGService(ollama_host=ollama.url) as service:
                assert service._container.settings.chat == model
    with RAGService() as service:
        assert service._container.settings == load_settings()


# --- health --------------------------------------------------------------------------------------------------------


def health_of(container: AppContainer) -> list[tuple[int, Any]]:
    """Status and body of ``/health``, ``/health/live`` and ``/health/ready``."""
    with serve(container) as address, httpx.Client(base_url=address, timeout=30) as http:
        found = [http.get(path) for path in ("/health", "/health/live", "/health/ready")]
    return [(response.status_code, response.json()) for response in found]


@pytest.mark.parametrize("silent", [False, True])
def test_a_model_that_is_down_is_degraded(tmp_path: Path, embedding: EmbeddingModel, silent: bool) -> None:
    """With store and embedding well and Ollama gone, or silent: 200, ``degraded``, ``unreachable``; ready even so."""
    with OllamaPeer() as gone:
        if silent:
            gone.fault = Fault("silence")
        else:
            gone.refuse()
        settings = load_settings(data_dir=tmp_path, ollama_host=gone.url, chat_model="ollama:mistral:7b")
        synthesizer = ChatSynthesizer(make_chat_model(settings))
        (status, body), live, (ready, _) = health_of(
            build_container(settings, embedding=embedding, synthesizer=synthesizer)
        )
    assert set(body) == FIELDS
    assert (status, body["status"], body["ollama"]) == (200, "degraded", "unreachable")
    assert (body["vector_store"], body["embedding_model"]) == ("connected", "loaded")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", body["timestamp"])
    assert (live, ready) == ((200, {"status": "alive"}), 200)


def test_a_store_that_is_down_is_unhealthy(tmp_path: Path, embedding: EmbeddingModel, ollama: OllamaPeer) -> None:
    """503 and ``unhealthy``; Ollama is asked all the same, though no model of it is in use; the process is alive."""
    settings = load_settings(data_dir=tmp_path, ollama_host=ollama.url)
    store = BrokenStore(StoreUnavailable("It is down."))
    (status, body), live, (ready, why) = health_of(build_container(settings, embedding=embedding, store=store))
    assert (status, body["status"], body["vector_store"]) == (503, "unhealthy", "unreachable")
    assert body["ollama"] == "connected"
    assert live == (200, {"status": "alive"})
    assert (ready, "It is down." in why["message"]) == (503, True)


def test_while_draining_no_work_is_taken(tmp_path: Path, embedding: EmbeddingModel) -> None:
    """A service that is shutting down is alive and not ready."""
    container = build_container(load_settings(data_dir=tmp_path), embedding=embedding)
    container.health.draining = True
    _, live, (ready, why) = health_of(container)
    assert (live[0], ready, why["message"]) == (200, 503, "The service is shutting down.")
