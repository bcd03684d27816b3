"""Search API: ``garden search``, ``RAGService.retrieve`` and ``GET /api/v1/search``, clause by clause of document R."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from typer.testing import CliRunner, Result

from answering.types import Chunk
from app.cli.main import app as command
from app.query_service.chunk_search import assemble
from graph.errors import InvalidInput
from rag_service import RAGService
from tests.failures.world import TEXTS, steady_store
from tests.peers import CoherePeer, Fault
from tests.peers.qdrant_peer import QdrantPeer

TEXTBOOK = "textbook_chunks"
MEMBERS = {"source_url", "chapter", "section", "chunk_index", "title", "score", "text"}


@pytest.fixture(scope="module")
def cohere() -> Iterator[CoherePeer]:
    with CoherePeer() as peer:
        yield peer


@pytest.fixture(scope="module")
def qdrant() -> Iterator[QdrantPeer]:
    """A Qdrant with the document's collection, two chunks in it."""
    peer = steady_store(TEXTBOOK)
    yield peer
    peer.__exit__()


@pytest.fixture(autouse=True)
def _as_in_the_document(cohere: CoherePeer, qdrant: QdrantPeer, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The document's dependencies: its three variables, its embedding model and its collection."""
    settings = {
        "COHERE_API_KEY": cohere.key,
        "COHERE_BASE_URL": cohere.url,
        "QDRANT_URL": qdrant.url,
        "VECTOR_STORE": "qdrant",
        "VECTOR_STORE_COLLECTION": TEXTBOOK,
        "EMBEDDING_MODEL": "embed-english-v3.0",
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    yield
    cohere.fault = qdrant.fault = None


def search(*arguments: str) -> Result:
    return CliRunner().invoke(command, ["search", *arguments])


def refused(done: Result, status: int, words: str) -> None:
    """One clear line on stderr, that exit status, and no traceback."""
    assert (done.exit_code, done.stderr.count("\n")) == (status, 1), done.output
    assert words in done.stderr
    assert "Traceback" not in done.output


def test_the_documents_embedding_and_collection_are_asked(cohere: CoherePeer, qdrant: QdrantPeer) -> None:
    """The query is embedded by embed-english-v3.0 as a search_query and looked up in textbook_chunks, by cosine."""
    before = len(cohere.requests)
    done = search("When was the Eiffel Tower finished?", "--json")
    assert done.exit_code == 0, done.output
    (embedded,) = [request.body for request in cohere.requests[before:]]
    assert (embedded["model"], embedded["input_type"]) == ("embed-english-v3.0", "search_query")
    assert any(f"/collections/{TEXTBOOK}/points" in request.path for request in qdrant.requests)
    (config,) = {json.dumps(r.body["vectors"]) for r in qdrant.requests if r.method == "PUT" and "vectors" in r.body}
    assert '"distance": "Cosine"' in config


def test_fewer_chunks_than_k_are_all_of_them() -> None:
    """With two chunks, five asked for are two: the nearest first, each with all that the document names."""
    found = json.loads(search("When was the Eiffel Tower finished?", "-k", "5", "--json").stdout)
    assert (found["query"], found["k"]) == ("When was the Eiffel Tower finished?", 5)
    assert [hit["text"] for hit in found["results"]] == TEXTS
    scores = [hit["score"] for hit in found["results"]]
    assert scores == sorted(scores, reverse=True)
    assert all(set(hit) >= MEMBERS for hit in found["results"])


def test_the_table_and_the_context_are_printed() -> None:
    """A person sees a ranked table with scores, then each chunk set apart with its metadata and its text."""
    done = search("When was the Eiffel Tower finished?")
    table, _, context = done.stdout.partition("--- [1] Facts ---")
    assert "score" in table
    assert "--- [2] Facts ---" in context
    assert all(text in context for text in TEXTS)
    assert "source: d0" in context
    assert "score: " in context


def test_a_rate_limit_is_waited_out(cohere: CoherePeer) -> None:
    """One 429 is tried again and not seen; 429 without end is one clear line after a bounded number of tries."""
    before = len(cohere.requests)
    cohere.fault = Fault("status", 429, path="/v2/embed", times=1)
    assert search("When was the Eiffel Tower finished?").exit_code == 0
    assert len(cohere.requests) == before + 2
    cohere.fault = Fault("status", 429, path="/v2/embed")
    refused(search("Who built it?"), 1, "embedding model")
    assert len(cohere.requests) == before + 5


def test_a_missing_collection_is_an_empty_result_and_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """``--json`` prints an empty result, ``k`` clamped; the line on stderr names the collection."""
    monkeypatch.setenv("VECTOR_STORE_COLLECTION", "nobodys")
    done = search("anything", "-k", "99", "--json")
    refused(done, 1, "nobodys")
    assert json.loads(done.stdout) == {"query": "anything", "k": 8, "results": [], "context": ""}
    refused(search("anything"), 1, "nobodys")


def test_an_unreachable_store_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """A Qdrant that is not there is a connection error in our words."""
    with QdrantPeer() as gone:
        monkeypatch.setenv("QDRANT_URL", gone.url)
        gone.refuse()
        refused(search("anything"), 1, "cannot be reached")


@pytest.mark.parametrize("query", ["", "   ", "x" * 2001])
def test_an_empty_query_is_a_validation_error(query: str) -> None:
    """So is one that is too long: one line, status 2, and nothing on stdout."""
    done = search(query, "--json")
    refused(done, 2, "Query must be non-blank and at most 2000 characters.")
    assert done.stdout == ""


def test_what_is_no_query_or_no_k_is_refused(cohere: CoherePeer) -> None:
    """The library names the argument; nothing is embedded."""
    with RAGService() as service:
        before = len(cohere.requests)
        wrong: list[tuple[Any, Any, str]] = [
            (None, 5, "query"),
            ("x", "5", "k"),
            ("x", True, "k"),
            ("\ud800", 5, "query"),
        ]
        for query, k, field in wrong:
            with pytest.raises(InvalidInput) as refusal:
                service.retrieve(query, k)
            assert refusal.value.details == {"field": field}
        assert [request.body["texts"] for request in cohere.requests[before:]] == []


def test_every_chunk_of_the_context_shows_its_metadata() -> None:
    """Title, source, chapter, section, page and score stand above the text; what is not known is left out."""
    whole = Chunk(
        "a#1", "a", "Robots", "Nodes talk.", url="https://x.test/a", chapter="2", section="2.1", page=7, similarity=0.5
    )
    bare = Chunk("b#1", "b", "Bread", "Flour.", similarity=0.25)
    assert assemble([whole, bare]) == (
        "--- [1] Robots ---\nsource: https://x.test/a\nchapter: 2\nsection: 2.1\npage: 7\nscore: 0.5000\n\nNodes talk."
        "\n\n--- [2] Bread ---\nscore: 0.2500\n\nFlour."
    )


def test_a_search_over_http_returns_chunks_with_their_metadata(http: httpx.Client) -> None:
    """A query without a match still brings k chunks, their low scores in sight, with title, place and text."""
    found = http.get("/api/v1/search", params={"q": "quantum computing recipes", "k": 4}).json()
    assert (found["k"], len(found["results"])) == (4, 4)
    assert all(hit["score"] < 0.5 and hit["text"] and hit["chunk_id"] for hit in found["results"])
    assert all(hit["source_url"] and hit["title"] and hit["chunk_index"] is not None for hit in found["results"])


@pytest.mark.parametrize(("parameters", "field"), [({"k": 5}, "q"), ({"q": " "}, "q"), ({"q": "x", "k": "many"}, "k")])
def test_bad_parameters_are_400_over_http(http: httpx.Client, parameters: dict[str, Any], field: str) -> None:
    """In the one error body, which names the field; a ``k`` out of its range is clamped and not refused."""
    response = http.get("/api/v1/search", params=parameters)
    assert (response.status_code, response.json()["details"]["field"]) == (400, field)
    assert http.get("/api/v1/search", params={"q": "x", "k": -3}).json()["k"] == 3
