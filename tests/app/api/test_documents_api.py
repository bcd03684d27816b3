"""The stored documents over HTTP: listed, shown whole and deleted; and what readers say of answers, kept for eval."""

from __future__ import annotations

import json
import unicodedata
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from app.api.feedback import MAX_FILE_BYTES
from app.bootstrap.compose import AppContainer, build_container
from app.cli.evaluation.measures import read_questions
from app.ingest.documents import IngestReport
from app.ingest.manifest import IngestManifest
from app.ingest.pipeline import ingest_into
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from graph.errors import StoreUnavailable
from tests.support.calling import BYTES, caller, upload

RATING = {"question": "Where is the lighthouse?", "outcome": "answered", "rating": "up"}
ROWS = b"".join(
    json.dumps(
        {"document_id": "sub/\xe4 #?.md", "title": "Odd", "text": f"Row {n}.", "chunk_id": f"odd{9 - n}"}
    ).encode()
    + b"\n"
    for n in range(7)
)


def address(document_id: str) -> str:
    return f"/api/v1/documents/{quote(document_id, safe='')}"


async def test_documents_are_listed_page_by_page(client: httpx.AsyncClient) -> None:
    """Id, title, number of chunks and time of ingest, ordered by id; out of bounds is 400 and names the field."""
    assert (await client.get("/api/v1/documents")).json() == {"documents": [], "total": 0}
    await upload(client)
    await upload(client, "rows.jsonl", ROWS)
    listed = (await client.get("/api/v1/documents")).json()
    notes, odd = listed["documents"]
    for one, expected in ((notes, ("notes.md", "Notes", 1)), (odd, ("sub/\xe4 #?.md", "Odd", 7))):
        assert (one["id"], one["title"], one["chunks"]) == expected
        assert set(one) == {"id", "title", "chunks", "ingestedAt", "hasFile"}
        assert one["hasFile"] is (one is notes)  # uploads are kept, rows of JSON Lines are not
        assert abs(datetime.now(UTC) - datetime.fromisoformat(one["ingestedAt"])) < timedelta(hours=1)
    assert listed["total"] == 2
    second = await client.get("/api/v1/documents", params={"offset": 1, "limit": 1})
    assert second.json() == {"documents": [odd], "total": 2}
    for wrong in ({"limit": 0}, {"limit": 1001}, {"limit": "x"}, {"offset": -1}):
        refused = await client.get("/api/v1/documents", params=wrong)
        assert (refused.status_code, refused.json()["details"]) == (400, {"field": next(iter(wrong))})


async def test_a_document_is_shown_in_the_order_of_its_chunks(client: httpx.AsyncClient) -> None:
    """Not in that of the chunks' ids; a window of it is chosen by offset or around one of its chunks."""
    await upload(client, "rows.jsonl", ROWS)
    whole = (await client.get(address("sub/\xe4 #?.md"))).json()
    assert (whole["id"], whole["title"], whole["total"], whole["offset"]) == ("sub/\xe4 #?.md", "Odd", 7, 0)
    assert [chunk["text"] for chunk in whole["chunks"]] == [f"Row {n}." for n in range(7)]
    assert set(whole["chunks"][0]) == {"chunkId", "documentId", "title", "text", "url", "chapter", "section", "page"}
    for params, offset, texts in (
        ({"offset": 5}, 5, ["Row 5.", "Row 6."]),
        ({"offset": 9}, 9, []),
        ({"around": "odd5", "limit": 3}, 3, ["Row 3.", "Row 4.", "Row 5."]),
        ({"around": "odd9", "limit": 2}, 0, ["Row 0.", "Row 1."]),
        ({"around": "odd3", "limit": 2}, 5, ["Row 5.", "Row 6."]),
        ({"around": "nothing", "limit": 1}, 0, ["Row 0."]),
    ):
        part = (await client.get(address("sub/\xe4 #?.md"), params=params)).json()
        assert (part["offset"], [chunk["text"] for chunk in part["chunks"]]) == (offset, texts)
    for unknown in (address("nobody.md"), address("../x")):
        assert (await client.get(unknown)).json()["error"] == "NOT_FOUND"
    for wrong in ("/api/v1/documents/", address("x" * 1001)):
        refused = await client.get(wrong)
        assert (refused.status_code, refused.json()["details"]["field"]) == (400, "documentId")


async def test_a_deleted_document_is_gone_and_can_come_again(client: httpx.AsyncClient) -> None:
    """Its chunks are neither shown nor answered from, others stay; a second time is 404; an upload stores it anew."""
    await upload(client)
    await upload(client, "rows.jsonl", ROWS)
    gone = await client.delete(address("notes.md"))
    note = "garden ingest leaves it out from now on, until it is run with --restore."
    assert (gone.status_code, gone.json()) == (200, {"id": "notes.md", "chunks": 1, "note": note})
    assert [document["title"] for document in (await client.get("/api/v1/documents")).json()["documents"]] == ["Odd"]
    assert (await client.get("/api/v1/chunks/notes.md%230")).status_code == 404
    answer = await client.post("/query", json={"query": "Where does the lighthouse of Larkfield stand?"})
    assert answer.json()["metadata"]["answerSynthesized"] is False
    assert (await client.delete(address("notes.md"))).json()["error"] == "NOT_FOUND"
    assert (await upload(client)).json()["added"] == 1
    assert (await client.delete("/api/v1/documents/")).json()["error"] == "VALIDATION_ERROR"
    assert (await client.delete("/api/v1/documents")).status_code == 405
    assert (await client.get("/api/v1/documents")).json()["total"] == 2


async def test_a_replaced_document_is_named(client: httpx.AsyncClient) -> None:
    """An upload of a stored document's name says that it replaced it; the same file again, or in a folder, does not."""
    north, south = b"The north depot opens at 7.", b"The south depot opens at 9."
    assert (await upload(client, "readme.md", north)).json()["note"] == ""
    assert (await upload(client, "readme.md", north)).json()["note"] == ""
    assert (await upload(client, "readme.md", south)).json()["note"].startswith("Replaced: the document readme.md")
    assert (await upload(client, "north/readme.md", north)).json()["note"] == ""
    listed = (await client.get("/api/v1/documents")).json()["documents"]
    assert [(document["id"], document["hasFile"]) for document in listed] == [
        ("north/readme.md", True),
        ("readme.md", True),
    ]


async def test_both_documents_of_one_name_can_be_kept(client: httpx.AsyncClient) -> None:
    """With ``replace=false`` the second file of a name gets a number, and the note says so."""
    north, south = b"The north depot opens at 7.", b"The south depot opens at 9."
    await upload(client, "readme.md", north)
    for _ in range(2):
        second = await client.post("/api/v1/documents?name=readme.md&replace=false", content=south, headers=BYTES)
        assert second.json()["note"] == "Stored as readme-2.md, since another document is named readme.md."
    listed = (await client.get("/api/v1/documents")).json()["documents"]
    assert [document["id"] for document in listed] == ["readme-2.md", "readme.md"]


async def test_folders_are_listed_for_who_may_upload(
    client: httpx.AsyncClient, container: AppContainer, tmp_path: Path
) -> None:
    """Ingested folders come with the time they were last in step, and whether they are watched; uploads are none."""
    assert (await client.get("/api/v1/folders")).json() == {"folders": []}
    await upload(client)
    folder = container.settings.data_dir / container.settings.vector_store_collection
    IngestManifest(folder, [tmp_path / "docs"]).synced()
    IngestManifest(folder, [tmp_path / "watched"]).synced(watched=True)
    found = (await client.get("/api/v1/folders")).json()["folders"]
    assert [(path["path"], path["watched"]) for path in found] == [
        (str(tmp_path / "docs"), False),
        (str(tmp_path / "watched"), True),
    ]
    assert all(datetime.fromisoformat(path["syncedAt"]) <= datetime.now(UTC) for path in found)
    async with caller(container, "10.0.0.7") as elsewhere:
        assert (await elsewhere.get("/api/v1/folders")).status_code == 403


async def test_one_name_in_two_unicode_forms_is_one_document(client: httpx.AsyncClient) -> None:
    """A decomposed accent, as some systems write it, is the composed one: in ids of uploads and in addresses."""
    await upload(client, "cafe\u0301.md", b"The cafe opens at 7.")
    await upload(client, "caf\u00e9.md", b"The cafe opens at 9.")
    listed = (await client.get("/api/v1/documents")).json()["documents"]
    assert [document["id"] for document in listed] == ["caf\u00e9.md"]
    assert (await client.delete(address("cafe\u0301.md"))).status_code == 200


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("Öffnungszeiten.md", "# Zeiten\n\nThe spare rope hangs behind the clock."),
        ("résumé.txt", "The spare rope hangs behind the clock."),
        ("Đường đi.html", "<title>Way</title><p>The spare rope hangs behind the clock.</p>"),
        ("ガイド.csv", "Item,Where\nspare rope,behind the clock\n"),
        ("Señal.rtf", r"{\rtf1\ansi The spare rope hangs behind the clock.}"),
    ],
)
async def test_a_name_is_found_by_its_other_unicode_form(client: httpx.AsyncClient, name: str, content: str) -> None:
    """Uploaded in both forms it is one document, and either form as ``source`` is answered from it."""
    for form in ("NFC", "NFD"):
        report = (await upload(client, unicodedata.normalize(form, name), content.encode())).json()
        assert report["added"] + report["unchanged"] == 1
    for form in ("NFC", "NFD"):
        question = {"query": "Where does the spare rope hang?", "source": unicodedata.normalize(form, name)}
        body = (await client.post("/query", json=question)).json()
        assert [document["id"] for document in body["citedDocuments"]] == [name]


async def test_a_document_deleted_by_hand_stays_deleted(
    client: httpx.AsyncClient, container: AppContainer, tmp_path: Path
) -> None:
    """A later ingest of its path leaves it out and says so, one that restores brings it back, and then it stays."""
    (docs := tmp_path / "docs").mkdir()
    for name in ("a", "b"):
        (docs / f"{name}.md").write_text(f"The depot {name} opens at 7.")
    folder = container.settings.data_dir / container.settings.vector_store_collection

    async def ingest(*, restore: bool = False) -> IngestReport:
        return await ingest_into(container.writer, [docs], manifest=IngestManifest(folder, [docs], restore=restore))

    await ingest()
    await client.delete(address("a.md"))
    for _ in range(2):
        report = await ingest()
        assert (report.added, report.unchanged, report.deleted) == (0, 1, 1)
        assert [(file.path, file.reason.partition(";")[0][:20]) for file in report.skipped] == [
            ("a.md", "deleted by hand on 2")
        ]
    assert (await ingest(restore=True)).added == 1
    assert (await ingest()).unchanged == 2


@pytest.mark.parametrize(
    ("host", "base"), [("10.0.0.7", "http://127.0.0.1:8000"), ("127.0.0.1", "http://rebound.example:8000")]
)
async def test_without_keys_only_this_machine_deletes(container: AppContainer, host: str, base: str) -> None:
    """The rule of uploads: from elsewhere, or under a foreign name, it is 403 and nothing is deleted."""
    async with caller(container) as here, caller(container, host, base) as elsewhere:
        await upload(here)
        refused = await elsewhere.delete(address("notes.md"))
        assert (refused.status_code, refused.json()["error"]) == (403, "FORBIDDEN")
        assert (await here.get("/api/v1/documents")).json()["total"] == 1


async def test_with_keys_a_key_is_needed(tmp_path: Path, embedding: EmbeddingModel) -> None:
    """With API_KEYS every one of the routes wants a key, and a key deletes from anywhere."""
    container = build_container(load_settings(data_dir=tmp_path, api_keys="sesame"), embedding=embedding)
    key = {"X-API-Key": "sesame"}
    async with caller(container, "10.0.0.7", "http://garden.example") as client:
        await upload(client, **BYTES, **key)
        for method, path in (
            ("GET", "/api/v1/documents"),
            ("GET", address("notes.md")),
            ("DELETE", address("notes.md")),
            ("POST", "/api/v1/feedback"),
        ):
            assert (await client.request(method, path)).json()["error"] == "UNAUTHORIZED", path
        assert (await client.delete(address("notes.md"), headers=key)).json()["chunks"] == 1
    assert not (tmp_path / "feedback.jsonl").exists()
    await container.aclose()


async def test_a_broken_store_is_an_outage(container: AppContainer) -> None:
    """A store that does not answer is 503, never an empty list or a missing document."""

    class Broken:
        async def fail(self, *_: Any) -> Any:
            raise StoreUnavailable("The store is away.")

        asummaries = achunk_hashes = adelete_documents = fail

    default = container.collections.default
    default.store, kept = Broken(), default.store  # type: ignore[assignment]
    async with caller(container) as client:
        answers = [
            await client.get("/api/v1/documents"),
            await client.get(address("a")),
            await client.delete(address("a")),
        ]
    default.store = kept
    assert [(answer.status_code, answer.json()["error"]) for answer in answers] == [(503, "RETRIEVAL_FAILED")] * 3


async def test_ratings_are_questions_for_eval(client: httpx.AsyncClient, container: AppContainer) -> None:
    """Each is one line that `garden eval` reads: "up" keeps the outcome and its sources, "down" reverses it."""
    file = container.settings.data_dir / "feedback.jsonl"
    for given in (
        {**RATING, "citedDocuments": ["notes.md"], "requestId": "req_a"},
        {**RATING, "citedDocuments": ["notes.md"], "requestId": "req_b", "rating": "down"},
        {**RATING, "question": " Odd\u2028\u0085 one? ", "outcome": "low_confidence", "requestId": "req_c"},
        {**RATING, "outcome": "no_relevant_chunks", "rating": "down", "unknown": 1},
    ):
        stored = await client.post("/api/v1/feedback", json=given)
        assert stored.status_code == 200
        assert stored.json()["id"] == given.get("requestId", stored.headers["x-request-id"])
    rows = read_questions(file)
    assert [(row.answerable, row.expected_sources) for row in rows] == [
        (True, ("notes.md",)),
        (False, ()),
        (False, ()),
        (True, ()),
    ]
    assert [row.id for row in rows[:3]] == ["req_a", "req_b", "req_c"]
    assert rows[2].question == "Odd\u2028\u0085 one?"
    assert [json.loads(line)["rating"] for line in file.read_text().splitlines()] == ["up", "down", "up", "down"]
    assert file.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"question": None}, "question"),
        ({"question": "  "}, "question"),
        ({"question": "x" * 2001}, "question"),
        ({"question": "\ud800"}, "question"),
        ({"question": 5}, "question"),
        ({"rating": "sideways"}, "rating"),
        ({"rating": None}, "rating"),
        ({"outcome": "fine"}, "outcome"),
        ({"citedDocuments": "notes.md"}, "citedDocuments"),
        ({"citedDocuments": ["a"] * 51}, "citedDocuments"),
        ({"citedDocuments": ["a", ""]}, "citedDocuments.1"),
        ({"citedDocuments": ["a", 5]}, "citedDocuments.1"),
        ({"requestId": "x" * 129}, "requestId"),
    ],
)
async def test_a_wrong_rating_names_its_field(
    client: httpx.AsyncClient, container: AppContainer, changed: dict[str, Any], field: str
) -> None:
    """400 as on the other routes, and nothing is written."""
    headers = {"Content-Type": "application/json"}
    refused = await client.post("/api/v1/feedback", content=json.dumps({**RATING, **changed}), headers=headers)
    assert (refused.status_code, refused.json()["error"]) == (400, "VALIDATION_ERROR")
    assert refused.json()["details"]["field"] == field
    assert not (container.settings.data_dir / "feedback.jsonl").exists()


async def test_ratings_that_cannot_be_stored(client: httpx.AsyncClient, container: AppContainer) -> None:
    """A full file is 413, one that cannot be written 500, each in the one body; what is no JSON is 400."""
    file = container.settings.data_dir / "feedback.jsonl"
    assert (await client.post("/api/v1/feedback", content=b"[1]", headers=BYTES)).status_code == 400
    assert (await client.post("/api/v1/feedback", json=[1])).json()["error"] == "VALIDATION_ERROR"
    file.parent.mkdir(exist_ok=True)
    with file.open("wb") as full:
        full.truncate(MAX_FILE_BYTES)
    assert (await client.post("/api/v1/feedback", json=RATING)).json()["error"] == "PAYLOAD_TOO_LARGE"
    file.unlink()
    file.mkdir()
    failed = await client.post("/api/v1/feedback", json=RATING)
    assert (failed.status_code, failed.json()["error"]) == (500, "INTERNAL_ERROR")


def test_they_are_described(http: httpx.Client) -> None:
    """OpenAPI names the operations and their errors, and limits of what is returned."""
    paths = http.get("/openapi.json").json()["paths"]
    one = paths["/api/v1/documents/{documentId}"]
    listing = paths["/api/v1/documents"]["get"]
    for operation in (listing, one["get"], one["delete"], paths["/api/v1/feedback"]["post"]):
        assert {"200", "4XX", "5XX"} <= set(operation["responses"])
    assert {row["name"]: row["schema"].get("maximum") for row in listing["parameters"]} == {
        "offset": None,
        "limit": 1000,
        "collection": None,
    }
