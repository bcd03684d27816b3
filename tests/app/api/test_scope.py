"""``source`` and ``filters``: one narrowed search, the same on every interface."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.bootstrap.compose import build_container
from app.ingest.pipeline import ingest_into
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings

JSON = {"Content-Type": "application/json"}
QUESTION = "How many days of annual leave are there?"
FILES = {
    "hr/leave.md": "---\nauthor: Kim\ndate: 2024-03-01\n---\n# Leave\n\nThere are 25 days of annual leave.\n",
    "it/leave.md": "---\ntags: [old, 7]\ndate: 2021-03-01\n---\n# Leave\n\nThere are 30 days of annual leave.\n",
    "it/laptops.md": "# Laptops\n\nA laptop is replaced after four years.\n",
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory, embedding: EmbeddingModel) -> Path:
    """A data folder with the three documents, ingested once: the tests only ask; not open."""
    root = tmp_path_factory.mktemp("scope")
    for name, text in FILES.items():
        (root / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "docs" / name).write_text(text)

    async def fill() -> None:
        made = build_container(load_settings(data_dir=root / "data"), embedding=embedding)
        await ingest_into(made.writer, [root / "docs"])
        await made.aclose()

    asyncio.run(fill())
    return root / "data"


async def retrieved(client: httpx.AsyncClient, **scope: Any) -> list[str]:
    """The ids of the documents retrieved for the question, and of nothing else those cited."""
    streamed = (await client.post("/query/stream", json={"query": QUESTION, **scope})).text
    events = [json.loads(line[6:]) for line in streamed.splitlines() if line.startswith("data: ")]
    ids = sorted({chunk["documentId"] for chunk in events[0]["chunks"]})
    cited = {document["id"] for document in events[-1]["citedDocuments"]}
    asked = (await client.post("/query", json={"query": QUESTION, **scope})).json()
    assert {document["id"] for document in asked["citedDocuments"]} == cited <= set(ids)
    return ids


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ({"source": "hr/leave.md"}, ["hr/leave.md"]),
        ({"source": "it/*"}, ["it/laptops.md", "it/leave.md"]),
        ({"source": ["it/lea*", "hr/leave.md"]}, ["hr/leave.md", "it/leave.md"]),
        ({"source": "it/laptops.md"}, ["it/laptops.md"]),
        ({"source": None, "filters": None}, sorted(FILES)),
    ],
)
async def test_source_over_http(client: httpx.AsyncClient, scope: dict[str, Any], expected: list[str]) -> None:
    """An id, a beginning, or a list of them: other documents are neither cited nor retrieved."""
    assert await retrieved(client, **scope) == expected


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"folder": "it"}, ["it/laptops.md", "it/leave.md"]),
        ({"folder": "it", "type": "md", "tags": "old"}, ["it/leave.md"]),
        ({"tags": [7, "new"]}, ["it/leave.md"]),
        ({"author": ["Kim", "Lee"]}, ["hr/leave.md"]),
        ({"date": {"gte": "2021-01-01", "lt": "2025-01-01"}}, ["hr/leave.md", "it/leave.md"]),
        ({"date": {"gt": "2024-03-01"}}, ["it/laptops.md"]),
        ({"folder": "sales"}, []),
    ],
)
async def test_filters_over_http(client: httpx.AsyncClient, filters: dict[str, Any], expected: list[str]) -> None:
    """Folder, type, day and own fields of front matter; without a day of its own a file has that of its last change."""
    assert await retrieved(client, filters=filters) == expected


async def test_an_unknown_field_is_refused_with_those_there_are(client: httpx.AsyncClient) -> None:
    """400; the fields of front matter are among them, the store's own are not."""
    refused = await client.post("/query", json={"query": QUESTION, "filters": {"autor": "Kim"}})
    assert (refused.status_code, refused.json()["error"]) == (400, "VALIDATION_ERROR")
    details = refused.json()["details"]
    assert (details["field"], details["unknown"]) == ("filters", "autor")
    assert {"author", "date", "folder", "modified", "source", "tags", "title", "type"} <= set(details["fields"])
    assert not {"spans", "content_hash"} & set(details["fields"])


async def test_another_document_does_not_answer_in_its_place(client: httpx.AsyncClient) -> None:
    """Of two documents that answer, the one asked for does, and none does where only a third may."""
    for source, days in (("hr/leave.md", "25"), ("it/leave.md", "30")):
        assert days in (await client.post("/query", json={"query": QUESTION, "source": source})).json()["answer"]
    body = (await client.post("/query", json={"query": QUESTION, "source": "it/laptops.md"})).json()
    assert not body["metadata"]["answerSynthesized"]


async def test_an_unknown_source_is_refused_with_the_nearest_names(client: httpx.AsyncClient) -> None:
    """400 on each interface of HTTP, before any stream begins; ``details`` hold ids that exist."""
    wrong = {"query": QUESTION, "source": ["hr/leave.md", "laptop.md"]}
    for path, body in (("/query", wrong), ("/query/stream", wrong), ("/rag/invoke", {"input": wrong})):
        refused = await client.post(path, json=body)
        assert (refused.status_code, refused.json()["error"]) == (400, "VALIDATION_ERROR")
        assert refused.json()["details"]["field"] == "source"
        assert refused.json()["details"]["unknown"] == "laptop.md"
        assert "it/laptops.md" in refused.json()["details"]["nearest"]
    refused = await client.get("/api/v1/search", params={"q": QUESTION, "source": "laptop.md"})
    assert (refused.status_code, refused.json()["details"]["field"]) == (400, "source")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("source", 7),
        ("source", " "),
        ("source", []),
        ("source", ["a", 7]),
        ("source", ["hr/leave.md"] * 101),
        ("filters", "folder"),
        ("filters", ["folder"]),
        ("filters", {"": "hr"}),
        ("filters", {str(n): n for n in range(21)}),
        ("filters", {"type": []}),
        ("source", "\ud800"),
        ("source", ["it/*", "it/\udfff.md"]),
        ("filters", {"author": "\ud800"}),
        ("filters", {"author": ["Kim", "\ud800"]}),
        ("filters", {"\ud800": "Kim"}),
        ("filters", {"\0": "Kim"}),
        ("filters", {"tags": 10**23}),
        ("filters", {"tags": [7, -(2**63) - 1]}),
        ("collection", "\ud800"),
    ],
)
async def test_a_malformed_scope_is_refused(client: httpx.AsyncClient, field: str, value: Any) -> None:
    """400 that names the field, before any stream begins; so is what no store can compare with."""
    for path in ("/query", "/query/stream"):
        refused = await client.post(path, content=json.dumps({"query": QUESTION, field: value}), headers=JSON)
        assert (refused.status_code, refused.json()["details"]["field"]) == (400, field)


async def test_the_greatest_integers_are_compared(client: httpx.AsyncClient) -> None:
    """What fits in 64 bits, with or without a sign, is a number that no document has."""
    assert await retrieved(client, filters={"tags": [2**64 - 1, -(2**63)]}) == []


async def test_an_earlier_message_that_is_no_text_is_left_out(client: httpx.AsyncClient) -> None:
    """An unpaired surrogate in the conversation changes nothing about the answer to its last question."""
    messages = [{"role": "user", "content": text} for text in ("What about the \ud800 laptops?", QUESTION)]
    body = json.dumps({"model": "knowledge-garden", "messages": messages})
    answered = await client.post("/v1/chat/completions", content=body, headers=JSON)
    assert answered.status_code == 200
    assert "days of annual leave" in answered.json()["choices"][0]["message"]["content"]


async def test_search_is_narrowed_too(client: httpx.AsyncClient) -> None:
    """``GET /api/v1/search`` takes ``source``, several times, and ``filters`` as JSON."""
    for params in (
        {"source": ["it/leave.md", "it/lap*"]},
        {"filters": '{"folder": "it"}'},
    ):
        found = (await client.get("/api/v1/search", params={"q": QUESTION, **params})).json()["results"]
        assert sorted(hit["document_id"] for hit in found) == ["it/laptops.md", "it/leave.md"]
    refused = await client.get("/api/v1/search", params={"q": QUESTION, "filters": "{"})
    assert (refused.status_code, refused.json()["details"]["field"]) == (400, "filters")
