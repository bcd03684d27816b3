"""What stands behind the page: its files and their headers, its offer, one chunk by id, and uploads."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from app.api.page_routes import FOLDER
from app.bootstrap.compose import AppContainer, build_container
from app.ingest.pipeline import ingest_into
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from graph.errors import StoreUnavailable
from graph.nodes.answer import CLOSE
from tests.app.api.test_query_api import CHEMICALS
from tests.support.calling import BYTES, NOTES, caller, upload


def test_the_page_calls_close_what_the_service_does() -> None:
    """A passage opens by itself on the page from the relevance at which the answer says that something is close."""
    assert f"const CLOSE = {CLOSE};" in (FOLDER / "notice.js").read_text(encoding="utf-8")


def test_every_file_of_the_page_is_sent_locked_up(http: httpx.Client) -> None:
    """Nothing but the service's own files can run, be framed or be guessed at, on every file of the page."""
    for path in ("/", *(f"/page/{file.name}" for file in FOLDER.iterdir())):
        response = http.get(path)
        assert response.status_code == 200, path
        policy = response.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "http" not in policy
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["referrer-policy"] == "no-referrer"


def test_the_page_names_no_other_place() -> None:
    """No file of the page holds an address, an inline script or style, or a way to turn text into markup."""
    for file in FOLDER.iterdir():
        name, text = file.name, file.read_text("utf-8")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", " style=", "onclick="):
            assert word not in text, (name, word)
        assert "://" not in text.replace("http://www.w3.org/2000/svg", ""), name


def test_an_unchanged_file_is_not_sent_again(http: httpx.Client) -> None:
    """The ETag of a file makes the next request a 304 without a body; an unknown file is a 404 in the one body."""
    first = http.get("/page/style.css")
    again = http.get("/page/style.css", headers={"If-None-Match": f'"other", W/{first.headers["etag"]}'})
    assert (again.status_code, again.content) == (304, b"")
    assert again.headers["etag"] == first.headers["etag"]
    assert http.get("/page/style.css", headers={"If-None-Match": '"other"'}).status_code == 200
    for path in ("/page/nothing.js", "/page/..%2fpage_api.py", "/page/"):
        assert http.get(path).json()["error"] == "NOT_FOUND"


def test_every_example_is_answered(http: httpx.Client) -> None:
    """The questions that the page offers for the sample documents are answered from it."""
    offered = http.get("/api/v1/page").json()
    assert len(offered["examples"]) >= 3
    for question in offered["examples"]:
        assert http.post("/query", json={"query": question}).json()["metadata"]["answerSynthesized"], question


async def test_other_documents_have_no_examples(container: AppContainer) -> None:
    """Where the sample documents are not ingested, none of its questions is offered."""
    async with caller(container) as client:
        assert (await client.get("/api/v1/page")).json()["examples"] == []
        await upload(client, "safety_manual.pdf.md")
        assert (await client.get("/api/v1/page")).json()["examples"] == []


def test_a_chunk_by_its_id(http: httpx.Client) -> None:
    """The chunk that evidence names is there as it is stored, its quote at its offsets; an unknown one is a 404."""
    body = http.post("/query", json={"query": CHEMICALS, "includeEvidence": True}).json()
    row = body["evidence"][0]
    chunk = http.get(f"/api/v1/chunks/{quote(row['chunkId'], safe='')}").json()
    assert set(chunk) == {"chunkId", "documentId", "title", "text", "url", "chapter", "section", "page"}
    assert chunk["text"][row["start"] : row["end"]] == row["quote"]
    assert (chunk["chunkId"], chunk["documentId"], chunk["page"]) == (row["chunkId"], row["documentId"], 3)
    for unknown in ("nobody%231", "%2e%2e%2fx", "a%2Fb", "x" * 1000):
        missing = http.get(f"/api/v1/chunks/{unknown}")
        assert (missing.status_code, missing.json()["error"]) == (404, "NOT_FOUND")
    assert http.get(f"/api/v1/chunks/{'x' * 2000}").json()["error"] == "VALIDATION_ERROR"


async def test_a_chunk_of_a_broken_store_is_an_outage(container: AppContainer) -> None:
    """A store that does not answer is 503, never "no such chunk"."""

    class Broken:
        async def aget_by_ids(self, ids: list[str]) -> Any:
            raise StoreUnavailable("The store is away.")

    default = container.collections.default
    default.store, kept = Broken(), default.store  # type: ignore[assignment]
    async with caller(container) as client:
        response = await client.get("/api/v1/chunks/a%231")
    default.store = kept
    assert (response.status_code, response.json()["error"]) == (503, "RETRIEVAL_FAILED")


async def test_an_upload_is_an_ingest(container: AppContainer, tmp_path: Path, embedding: EmbeddingModel) -> None:
    """An uploaded file has the ids that `garden ingest` gives it, answers at once, and is unchanged the second time."""
    (tmp_path / "notes.md").write_bytes(NOTES)
    async with caller(container) as client:
        first, second = (await upload(client)).json(), (await upload(client)).json()
        assert (first["added"], first["chunks"]) == (1, 1)
        assert (second["added"], second["unchanged"]) == (0, 1)
        there = await ingest_into(container.writer, [tmp_path / "notes.md"])
        assert there.unchanged == 1
        answer = await client.post("/query", json={"query": "Where does the lighthouse of Larkfield stand?"})
        assert answer.json()["citedDocuments"][0]["id"] == "notes.md"
        assert (await client.get("/api/v1/chunks/notes.md%230")).json()["title"] == "Notes"


@pytest.mark.parametrize(
    "name",
    [
        "",
        " ",
        ".md",
        "../notes.md",
        "/a/b.md",
        "a//b.md",
        "a/../b.md",
        "a\\b.md",
        "..",
        "no\0tes.md",
        "no\ntes.md",
        "notes",
        "notes.exe",
        "n" * 250 + ".md",
        "\ufffd\ufffd.md",
    ],
)
async def test_a_name_that_is_no_plain_file_name_is_refused(container: AppContainer, name: str) -> None:
    """Names that lead elsewhere, with control characters, no or another suffix, or too long: 400, nothing is stored."""
    async with caller(container) as client:
        response = await upload(client, name)
    assert (response.status_code, response.json()["details"]["field"]) == (400, "name")
    assert await container.store.acount() == 0


async def test_what_cannot_be_ingested_says_why(container: AppContainer) -> None:
    """An empty file, one that is broken, another content type, one that is too large: a typed error each."""
    async with caller(container) as client:
        assert (await upload(client, content=b"")).json()["details"]["field"] == "body"
        broken = await upload(client, "broken.pdf", b"%PDF-1.4 nothing")
        assert (broken.status_code, broken.json()["error"]) == (400, "VALIDATION_ERROR")
        assert "broken.pdf" in broken.json()["message"]
        form = await upload(client, **{"Content-Type": "text/plain"})
        assert form.json()["details"]["field"] == "Content-Type"
        large = await upload(client, **BYTES, **{"Content-Length": str(33 * 1024 * 1024)})
        assert (large.status_code, large.json()["error"]) == (413, "PAYLOAD_TOO_LARGE")
        assert (await client.post("/api/v1/documents", content=NOTES, headers=BYTES)).status_code == 400


@pytest.mark.parametrize(
    ("host", "base", "allowed"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000", True),
        ("::1", "http://localhost:8000", True),
        ("127.0.0.1", "http://[::1]:8000", True),
        ("10.0.0.7", "http://127.0.0.1:8000", False),
        ("127.0.0.1", "http://rebound.example:8000", False),
    ],
)
async def test_without_keys_only_this_machine_uploads(
    container: AppContainer, host: str, base: str, allowed: bool
) -> None:
    """From elsewhere, or under a foreign name that leads here, an upload is 403 and is not offered."""
    async with caller(container, host, base) as client:
        assert (await client.get("/api/v1/page")).json()["mayUpload"] is allowed
        response = await upload(client, "a\\b.md")  # what is allowed is refused for its name, and need not be ingested
    assert (response.status_code, response.json()["error"]) == (
        (400, "VALIDATION_ERROR") if allowed else (403, "FORBIDDEN")
    )


async def test_with_keys_a_key_uploads_from_anywhere(tmp_path: Path, embedding: EmbeddingModel) -> None:
    """With API_KEYS the empty page is open, and its offer, the chunks and the uploads want a key."""
    container = build_container(load_settings(data_dir=tmp_path, api_keys="sesame"), embedding=embedding)
    async with caller(container, "10.0.0.7", "http://garden.example") as client:
        assert (await client.get("/")).status_code == 200
        assert (await client.get("/page/main.js")).status_code == 200
        for path in ("/api/v1/page", "/api/v1/chunks/x", "/pages"):
            assert (await client.get(path)).json()["error"] == "UNAUTHORIZED", path
        assert (await upload(client)).status_code == 401
        assert (await upload(client, **BYTES, **{"X-API-Key": "sesame"})).status_code == 200
        assert (await client.get("/api/v1/page", headers={"X-API-Key": "sesame"})).json()["mayUpload"] is True
    await container.aclose()


def test_chunks_and_uploads_are_described(http: httpx.Client) -> None:
    """OpenAPI names both operations, their errors and an example of an id."""
    paths = http.get("/openapi.json").json()["paths"]
    chunk = paths["/api/v1/chunks/{chunkId}"]["get"]
    assert chunk["parameters"][0]["schema"]["examples"] == ["what-is-knowledge-garden.md#0"]
    for operation in (chunk, paths["/api/v1/documents"]["post"]):
        assert {"200", "4XX", "5XX"} <= set(operation["responses"])
