"""Every failure of every provider, brought about over a real socket, and what each interface reports."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import httpx
import pytest
from typer.testing import CliRunner

from app.api.server import create_app
from app.bootstrap.compose import build_container
from app.cli.main import app as command
from app.library.answer import NOT_FOUND, UNAVAILABLE
from app.library.rag_service import RAGService
from tests.failures.table import CASES, DOCUMENT, Case, document
from tests.failures.world import QUESTION, steady_store, world
from tests.peers.chroma_server import ChromaServer
from tests.peers.qdrant_peer import QdrantPeer
from tests.peers.wire import SECRET


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    with ChromaServer(tmp_path_factory.mktemp("chroma")) as server:
        server.create("empty")
        yield server


@pytest.fixture(scope="module")
def steady() -> Iterator[QdrantPeer]:
    peer = steady_store()
    yield peer
    peer.__exit__()


def ask_over_http() -> httpx.Response:
    """``POST /query`` of a service on the settings of the environment."""

    async def ask() -> httpx.Response:
        container = build_container()
        transport = httpx.ASGITransport(create_app(container))
        async with httpx.AsyncClient(transport=transport, base_url="http://garden", timeout=60) as client:
            response = await client.post("/query", json={"query": QUESTION})
        await container.aclose()
        return response

    return asyncio.run(ask())


@pytest.mark.long
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_what_each_interface_reports(
    case: Case, steady: QdrantPeer, chroma: ChromaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Status and code of ``/query``, ``error_type`` of the library, exit status of ``garden ask``; no vendor text."""
    with world(case, steady, chroma) as settings:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        response = ask_over_http()
        with RAGService() as service:
            answer = service.query(QUESTION)
        asked = CliRunner().invoke(command, ["ask", QUESTION])
    assert response.status_code == case.status, response.text
    assert response.json().get("error") == case.error
    assert (answer.error_type, answer.answer) == (case.error_type, None)
    assert answer.message == (UNAVAILABLE if case.error_type else NOT_FOUND)
    assert asked.exit_code == case.exit, asked.output
    assert SECRET not in response.text + str(response.headers) + answer.model_dump_json() + asked.output
    assert "Traceback" not in asked.output


def test_without_a_failure_there_is_an_answer(
    steady: QdrantPeer, chroma: ChromaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same settings with nothing switched on: what the matrix sees is due to the failures."""
    with world(None, steady, chroma) as settings:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        response = ask_over_http()
    assert response.status_code == 200
    assert "1889" in response.json()["answer"]
    assert response.json()["citedDocuments"]


def test_the_document_is_this_table() -> None:
    """``docs/failures.md`` is written by ``python -m tests.failures.table``."""
    assert DOCUMENT.read_text(encoding="utf-8") == document()
