"""The library as document L draws it: the document's FastAPI wrapper over ``RAGService``, Chroma and Ollama.

The collection is filled as the document's own pipeline would fill it, with the sample documents' text.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Optional  # the names that the document's wrapper uses

import httpx
import psutil
import pytest

from app.ingest.documents import LoadedDocument, SplitDocument, TextChunk
from app.ingest.loaders.table import load_file
from app.ingest.split import split_document
from app.providers.embeddings.minilm import MiniLMEmbeddings
from rag_service import RAGService
from tests.app.api.test_query_api import CHEMICALS, OFF_TOPIC
from tests.peers import OllamaPeer
from tests.peers.chroma_server import ChromaServer
from tests.peers.ports import held_port
from tests.support.paths import DATA, KNOWLEDGE
from tests.support.samples_service import serve_app

FIXTURES = DATA
SOURCES = ("safety_manual.pdf", "hr_policy.pdf", "deployment-guide.md")


def chunks_of(name: str) -> Iterator[TextChunk]:
    for loaded in load_file(KNOWLEDGE / name, name):
        assert isinstance(loaded, LoadedDocument)
        for document in split_document(loaded):
            assert isinstance(document, SplitDocument)
            yield from document.chunks


def rows(embeddings: MiniLMEmbeddings) -> dict[str, Any]:
    """The sample documents as rows of Chroma's ``add``, their metadata named as in document L."""
    found: list[tuple[str, str, dict[str, Any]]] = []
    for name in SOURCES:
        for chunk in chunks_of(name):
            known = {
                "source_doc": name,
                "source_type": name.rpartition(".")[2],
                "page_number": chunk.page,
                "section_title": chunk.section,
                "chunk_index": chunk.chunk_index,
            }
            kept = {key: value for key, value in known.items() if value is not None}
            found.append((f"chunk_{len(found)}", chunk.text, kept))
    ids, texts, metadatas = (list(column) for column in zip(*found, strict=True))
    return {
        "ids": ids,
        "documents": texts,
        "metadatas": metadatas,
        "embeddings": embeddings.embed_documents(texts),
    }


@pytest.fixture(scope="module")
def ollama() -> Iterator[OllamaPeer]:
    with OllamaPeer() as peer:
        yield peer


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory, embeddings: MiniLMEmbeddings) -> Iterator[ChromaServer]:
    with ChromaServer(tmp_path_factory.mktemp("chroma")) as server:
        server.fill("corporate_documents", rows(embeddings), "cosine")
        yield server


@pytest.fixture(scope="module")
def wrapper(ollama: OllamaPeer, chroma: ChromaServer) -> Iterator[dict[str, Any]]:
    """The document's wrapper as it stands there, run in a module that has the names it takes for granted."""
    source = (FIXTURES / "fastapi_wrapper.txt").read_text("utf-8")
    module: dict[str, Any] = {"__name__": "wrapper", "os": os, "Optional": Optional, "Dict": dict}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OLLAMA_HOST", ollama.url)
        patch.setenv("VECTOR_STORE_URL", chroma.url)
        exec(compile(source, "fastapi_wrapper", "exec", dont_inherit=True), module)  # the document's own text
    yield module
    module["rag_service"].close()


@pytest.fixture(scope="module")
def service(wrapper: dict[str, Any]) -> RAGService:
    """The service that the wrapper made from the document's two variables."""
    made: RAGService = wrapper["rag_service"]
    return made


@pytest.fixture(scope="module")
def client(wrapper: dict[str, Any]) -> Iterator[httpx.Client]:
    with serve_app(wrapper["app"]) as address, httpx.Client(base_url=address, timeout=60) as made:
        yield made


def ask(client: httpx.Client, question: str, **filters: Any) -> dict[str, Any]:
    response = client.post("/query", json={"question": question, "filters": filters or None})
    assert response.status_code == 200, response.text
    body: dict[str, Any] = response.json()
    return body


def test_the_documents_wrapper_answers(client: httpx.Client, ollama: OllamaPeer) -> None:
    """Unchanged, it answers the document's example with a cited page; its default model is what is asked."""
    body = ask(client, CHEMICALS, source="safety_manual.pdf", max_results=5)
    assert "[safety_manual.pdf, page 3]" in body["answer"]
    assert {cited["document"] for cited in body["citations"]} == {"safety_manual.pdf"}
    assert body["citations"][0]["section"] == "4 Chemical handling"
    assert body["confidence"] > 0.5
    assert (body["error_type"], body["error_details"]) == (None, None)
    asked = [request.body for request in ollama.requests if request.path == "/api/chat"][-1]
    assert asked["model"] == "mistral:7b"
    options = asked["options"]
    assert (options["temperature"], options["top_p"], options["num_predict"]) == (0.1, 0.9, 500)


def test_the_documents_wrapper_declines(client: httpx.Client, ollama: OllamaPeer) -> None:
    """What the collection does not hold is not found, and no model is asked; a bad filter is an InvalidQuery."""
    before = len(ollama.requests)
    body = ask(client, OFF_TOPIC)
    assert (body["answer"], body["citations"], body["error_type"]) == (None, [], None)
    assert body["message"] == "Information not found in the knowledge base."
    assert len(ollama.requests) == before
    assert ask(client, CHEMICALS, max_results=0)["error_type"] == "InvalidQuery"
    assert ask(client, " ")["error_type"] == "InvalidQuery"


def test_the_documents_wrapper_tells_its_health(client: httpx.Client) -> None:
    """Its ``/health`` gives the five fields of parts that were really asked."""
    body = client.get("/health").json()
    assert body.pop("timestamp").endswith("Z")
    assert body == {
        "status": "healthy", "ollama": "connected", "vector_store": "connected", "embedding_model": "loaded",
    }  # fmt: skip


def test_the_documents_wrapper_serves_many_at_once(client: httpx.Client) -> None:
    """Its ``async def`` calls the service synchronously; twenty clients at once each get the answer that one gets."""
    expected = ask(client, CHEMICALS)
    with ThreadPoolExecutor(20) as pool:
        bodies = list(pool.map(lambda _: ask(client, CHEMICALS), range(20)))
    assert {body["answer"] for body in bodies} == {expected["answer"]}
    assert len({body["request_id"] for body in bodies}) == 20


@pytest.mark.parametrize("name", ["test_query_with_citations", "test_query_no_information"])
def test_the_documents_integration_test_passes(service: RAGService, name: str) -> None:
    """The two tests that document L ends with hold, word for word."""
    module: dict[str, Any] = {"__name__": "interface"}
    exec((FIXTURES / "service_interface.txt").read_text("utf-8"), module)  # the document's own text
    module[name](service)


async def test_a_sync_call_inside_a_running_loop(service: RAGService) -> None:
    """Over Chroma too, ``query`` works inside an ``async def``, and ``aquery`` gives the same."""
    plain, awaited = service.query(CHEMICALS), await service.aquery(CHEMICALS)
    assert plain.answer
    assert (plain.answer, plain.citations) == (awaited.answer, awaited.citations)


def test_twenty_threads_at_once(service: RAGService) -> None:
    """Twenty threads over one Chroma server get the answer that one gets."""
    expected = service.query(CHEMICALS)
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: service.query(CHEMICALS), range(20)))
    assert {(answer.answer, answer.confidence) for answer in answers} == {(expected.answer, expected.confidence)}


def test_connections_to_the_store_are_kept(service: RAGService, chroma: ChromaServer) -> None:
    """One question after the other goes over the connections of the first."""

    def connections() -> set[int]:
        return {
            c.laddr.port for c in psutil.Process().net_connections("tcp") if c.raddr and c.raddr.port == chroma.port
        }

    assert service.query(CHEMICALS).answer
    first = connections()
    assert service.query("What is the company vacation policy?").answer
    assert connections() & first


def test_a_missing_collection_is_not_found_and_an_outage_is_not(
    ollama: OllamaPeer, chroma: ChromaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """404 of the collection is the "not found" answer, no error; a Chroma that is down is VectorStoreUnavailable."""
    monkeypatch.setenv("VECTOR_STORE_COLLECTION", "nobodys")
    with RAGService(ollama_host=ollama.url, vector_store_url=chroma.url) as service:
        answer = service.query(CHEMICALS)
    assert (answer.answer, answer.error_type) == (None, None)
    assert answer.message == "Information not found in the knowledge base."
    with (
        held_port() as nobodys,
        RAGService(ollama_host=ollama.url, vector_store_url=f"http://127.0.0.1:{nobodys}") as service,
    ):
        answer = service.query(CHEMICALS)
        assert service.health_check()["status"] == "unhealthy"
    assert (answer.answer, answer.citations, answer.confidence) == (None, [], 0.0)
    assert (answer.error_type, bool(answer.error_details)) == ("VectorStoreUnavailable", True)
    assert answer.message == "Service temporarily unavailable. Please try again."
