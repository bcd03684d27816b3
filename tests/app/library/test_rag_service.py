"""The library: ``RAGService``, over the embedded parts."""

from __future__ import annotations

import asyncio
import shutil
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from app.bootstrap.compose import AppContainer, build_container
from app.ingest.pipeline import ingest_into
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from graph.errors import ConfigurationError
from rag_service import Answer, GenerationTimeout, InvalidQuery, OllamaUnavailable, RAGService, VectorStoreUnavailable
from tests.app.api.test_query_api import CHEMICALS, OFF_TOPIC
from tests.peers import Fault, OllamaPeer


@pytest.fixture(scope="module")
def service(
    sample_data: Path, embedding: EmbeddingModel, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[RAGService]:
    """A service over a copy of the sample documents."""
    folder = tmp_path_factory.mktemp("library") / "data"
    shutil.copytree(sample_data, folder)
    with RAGService(settings=load_settings(data_dir=folder)) as made:
        yield made


def test_answer_cites_document_and_page(service: RAGService) -> None:
    """The document's example is answered from the safety manual, with its page in the text and in the citation."""
    answer = service.query(question=CHEMICALS, filters={"source": "safety_manual.pdf", "max_results": 5})
    assert answer.answer is not None
    assert "[safety_manual.pdf, page 3]" in answer.answer
    assert {citation.document for citation in answer.citations} == {"safety_manual.pdf"}
    assert answer.citations[0].page == 3
    assert answer.confidence > 0.5
    assert answer.error_type is None
    assert answer.request_id
    assert answer.processing_time_ms >= 1


def test_nothing_found_is_the_documents_message(service: RAGService) -> None:
    """A question the documents do not answer has no answer, no citation, no error, and the document's message."""
    answer = service.query(OFF_TOPIC)
    assert (answer.answer, answer.citations, answer.error_type) == (None, [], None)
    assert answer.message == "Information not found in the knowledge base."


def test_dict_and_model_dump_are_the_same(service: RAGService) -> None:
    """The wrapper's ``.dict()`` works and holds the document's eight fields."""
    answer = service.query(OFF_TOPIC)
    assert answer.dict() == answer.model_dump()
    assert set(answer.dict()) == {
        "answer", "citations", "confidence", "message", "request_id", "processing_time_ms", "error_type",
        "error_details",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("question", "filters"),
    [
        ("", None),
        ("   ", None),
        (None, None),
        (5, None),
        ("x" * 2001, None),
        (CHEMICALS, "source"),
        (CHEMICALS, {"colour": "green"}),
        (CHEMICALS, {"max_results": 0}),
        (CHEMICALS, {"max_results": "5"}),
        (CHEMICALS, {"max_results": True}),
        (CHEMICALS, {"source": 7}),
        (CHEMICALS, {"source": ""}),
    ],
)
def test_bad_input_is_invalid_query(service: RAGService, question: Any, filters: Any) -> None:
    """A malformed question or filter comes back as InvalidQuery with details, and is raised when asked for."""
    answer = service.query(question, filters)
    assert (answer.error_type, answer.answer, answer.citations) == ("InvalidQuery", None, [])
    assert answer.error_details
    with pytest.raises(InvalidQuery):
        service.query(question, filters, raise_on_error=True)


def test_source_filter_keeps_other_documents_out(service: RAGService) -> None:
    """With a source filter, the answer to another document's question is not found."""
    assert service.query(CHEMICALS, {"source": "hr_policy.pdf"}).answer is None
    assert service.query(CHEMICALS, {"source": "no-such-file.pdf"}).answer is None


async def test_sync_call_inside_a_running_loop(service: RAGService) -> None:
    """``query`` works inside an ``async def``, as the document's own wrapper calls it, and ``aquery`` agrees."""
    plain = service.query(CHEMICALS)
    awaited = await service.aquery(CHEMICALS)
    assert plain.answer == awaited.answer
    assert plain.citations == awaited.citations


def test_twenty_threads_at_once(service: RAGService) -> None:
    """Twenty threads get the answer that one gets."""
    expected = service.query(CHEMICALS).answer
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: service.query(CHEMICALS).answer, range(40)))
    assert answers == [expected] * 40


def test_many_tasks_of_one_loop(service: RAGService) -> None:
    """Many ``aquery`` calls of one loop run at once and agree."""

    async def all_at_once() -> list[Answer]:
        return await asyncio.gather(*(service.aquery(CHEMICALS) for _ in range(20)))

    assert len({answer.answer for answer in asyncio.run(all_at_once())}) == 1


@pytest.mark.parametrize(("asked", "clamped"), [(1, 3), (3, 3), (5, 5), (8, 8), (10, 8), (-4, 3)])
def test_retrieve_clamps_k_and_orders_by_similarity(service: RAGService, asked: int, clamped: int) -> None:
    """``k`` is clamped to 3-8; exactly that many come back, highest similarity first, with metadata and context."""
    found = service.retrieve("How does ROS 2 handle node communication?", k=asked)
    assert (found.k, len(found.results)) == (clamped, clamped)
    scores = [hit.score for hit in found.results]
    assert scores == sorted(scores, reverse=True)
    for hit in found.results:
        assert hit.text in found.context
        assert hit.title in found.context
    assert {"source_url", "chapter", "section", "chunk_index", "title", "score", "text"} <= set(
        found.results[0].model_dump()
    )


def test_low_scores_are_not_filtered(service: RAGService) -> None:
    """A query without a match still brings k chunks with all their metadata, their low scores in sight."""
    found = service.retrieve("quantum computing recipes", k=4)
    assert (found.k, len(found.results)) == (4, 4)
    assert all(hit.score < 0.5 for hit in found.results)
    assert all(hit.source_url and hit.title and hit.chunk_index is not None for hit in found.results)


def test_a_search_takes_less_than_three_seconds(service: RAGService) -> None:
    """Embedding included, less than three seconds of one processor, however busy the machine is (document, SC-001)."""
    began = time.process_time()
    assert service.retrieve("How does ROS 2 handle node communication?").results
    assert time.process_time() - began < 3.0


def test_health_has_the_documents_fields(service: RAGService) -> None:
    """``health_check`` gives the five fields; without a configured model the service is healthy without Ollama."""
    found = service.health_check()
    assert set(found) == {"status", "ollama", "vector_store", "embedding_model", "timestamp"}
    assert (found["status"], found["vector_store"], found["embedding_model"]) == ("healthy", "connected", "loaded")


def test_error_classes_say_their_http_status() -> None:
    """A wrapper can read the status of each error from its class."""
    assert InvalidQuery.http_status == 400
    assert VectorStoreUnavailable.http_status == OllamaUnavailable.http_status == 503
    assert GenerationTimeout.http_status == 504


async def test_a_closed_service_says_so(tmp_path: Path) -> None:
    """After ``close`` a question raises ``RuntimeError`` in plain words, from plain and from async code."""
    service = RAGService(settings=load_settings(data_dir=tmp_path))
    service.close()
    with pytest.raises(RuntimeError, match="closed"):
        service.query(CHEMICALS)
    with pytest.raises(RuntimeError, match="closed"):
        await service.aquery(CHEMICALS)


@pytest.fixture
def model() -> Iterator[OllamaPeer]:
    with OllamaPeer() as started:
        yield started


def test_closing_ends_the_questions_of_other_threads(
    tmp_path: Path, embedding: EmbeddingModel, model: OllamaPeer
) -> None:
    """A caller that waits while another thread closes the service gets an error."""
    model.fault = Fault("silence", path="/api/chat")
    settings = load_settings(
        data_dir=tmp_path, relevance_threshold=0, ollama_model="llama3.2:1b", ollama_host=model.url
    )
    container = build_container(settings, embedding=embedding)
    ingest_text(container, "# Kiln\n\nThe kiln is fired on Mondays.\n", tmp_path)
    service = RAGService(settings=settings, container=container)
    with ThreadPoolExecutor(1) as thread:
        asked = thread.submit(service.query, "When is the kiln fired?")
        assert model.wait_until(lambda: bool(model.asked("/api/chat")))
        service.close()
        with pytest.raises(RuntimeError, match="closed"):
            asked.result(20)
    assert model.wait_until(lambda: model.hung_up == 1)


def ingest_text(container: AppContainer, text: str, folder: Path) -> None:
    """Ingest one document."""
    (path := folder / "document.md").write_text(text)
    asyncio.run(ingest_into(container.writer, [path]))


def test_a_part_that_cannot_be_closed_keeps_no_other_open(tmp_path: Path, embedding: EmbeddingModel) -> None:
    """The failure is raised, and the store is closed all the same: another service may open it."""
    settings = load_settings(data_dir=tmp_path)
    container = build_container(settings, embedding=embedding)

    async def fail() -> None:
        raise OSError("the disk is full")

    container.closing.push_async_callback(fail)
    service = RAGService(settings=settings, container=container)
    with pytest.raises(OSError, match="full"):
        service.close()
    with RAGService(settings=settings, container=build_container(settings, embedding=embedding)) as again:
        assert again.query("When is the kiln fired?").error_type is None


def test_a_service_that_cannot_be_made_leaves_no_thread(tmp_path: Path) -> None:
    """A wrong setting is an error, and nothing else."""
    before = set(threading.enumerate())
    with pytest.raises(ConfigurationError):
        RAGService(settings=load_settings(data_dir=tmp_path, embedding_model="nobody:nothing"))
    assert set(threading.enumerate()) <= before
