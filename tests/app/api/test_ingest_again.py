"""Documents whose files the service can read again: ingested again, their PDFs shown; and the progress of an ingest."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path
from urllib.parse import quote

import httpx
import pytest

from app.bootstrap.compose import AppContainer, build_container
from app.ingest.loaders.table import MAX_FILE_BYTES
from app.ingest.manifest import IngestManifest
from app.ingest.pipeline import ingest_into
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from tests.support.calling import BYTES, NOTES, caller, upload
from tests.support.paths import KNOWLEDGE
from tests.support.samples_service import serve, wait_until

LINES = {**BYTES, "Accept": "application/x-ndjson"}
LOG = "\n".join(
    json.dumps({"document_id": "log", "title": "Log", "text": f"Day {n}.", "chunk_id": f"log{n}"}) for n in range(150)
)


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory, embedding: EmbeddingModel) -> Path:
    """A folder whose documents were ingested from its folder ``docs`` into its folder ``data``; not open.

    In ``docs`` are a note, a PDF in a folder below, and rows whose ids name files that were never ingested.
    """
    top = tmp_path_factory.mktemp("again") / "top"
    (folder := top / "docs").mkdir(parents=True)
    (folder / "notes.md").write_bytes(NOTES)
    (folder / "sub").mkdir()
    shutil.copy(KNOWLEDGE / "safety_manual.pdf", folder / "sub/manual.pdf")
    for secret in (top / "secret.pdf", folder / ".hidden.pdf", folder / "sub/.hidden/x.pdf", top / "docs2/x.pdf"):
        secret.parent.mkdir(exist_ok=True)
        shutil.copy(KNOWLEDGE / "hr_policy.pdf", secret)
    (folder / "link.pdf").symlink_to(top / "secret.pdf")
    rows = [{"document_id": one, "title": "Row", "text": f"Okapi {n}."} for n, one in enumerate(hostile(top))]
    (folder / "rows.jsonl").write_text("\n".join(map(json.dumps, rows)))

    async def fill() -> None:
        made = build_container(load_settings(data_dir=top / "data"), embedding=embedding)
        manifest = IngestManifest(top / "data" / made.settings.vector_store_collection, [folder])
        await ingest_into(made.writer, [folder], manifest=manifest)
        await made.aclose()

    asyncio.run(fill())
    shutil.copytree(top, top.with_name("kept"), symlinks=True)
    return top


@pytest.fixture
def top(ingested: Path) -> Path:
    """That folder as it was after the ingest, in its own place: a collection keeps the paths of its files."""
    shutil.rmtree(ingested)
    return Path(shutil.copytree(ingested.with_name("kept"), ingested, symlinks=True))


@pytest.fixture
def folder(top: Path) -> Path:
    """The folder of the documents."""
    return top / "docs"


def hostile(top: Path) -> list[str]:
    """Ids that lead out of the folder, to hidden files, through a link, to no file, and to what no file can be."""
    beside = ("../secret.pdf", "../docs2/x.pdf", "sub/../../secret.pdf", str(top / "secret.pdf"))
    return [*beside, ".hidden.pdf", "sub/.hidden/x.pdf", "link.pdf", "rows.jsonl", "sub", "a\0.pdf", "x" * 990 + ".pdf"]


@pytest.fixture
def data(top: Path) -> Path:
    """The folder of the collection that was ingested from the folder."""
    return top / "data"


async def again(client: httpx.AsyncClient, document_id: str, **headers: str) -> httpx.Response:
    return await client.post(f"/api/v1/documents/{quote(document_id, safe='')}", headers=headers or BYTES)


async def with_file(client: httpx.AsyncClient) -> set[str]:
    """The ids of the documents whose file can be read again."""
    listed = (await client.get("/api/v1/documents")).json()["documents"]
    return {document["id"] for document in listed if document["hasFile"]}


async def test_a_changed_file_replaces_its_document(client: httpx.AsyncClient, folder: Path) -> None:
    """As `garden ingest` of its folder does, again and again; an unchanged file changes nothing, a broken one says why
    and what was stored stays; one that is gone cannot be read."""
    assert (await again(client, "notes.md")).json()["unchanged"] == 1
    for words in ("The lighthouse of Larkfield is red.", "The lighthouse of Larkfield is white."):
        (folder / "notes.md").write_text(f"# Notes\n\n{words}\n")
        assert (await again(client, "notes.md")).json()["changed"] == 1
        shown = (await client.get("/api/v1/documents/notes.md")).json()
        assert words in shown["chunks"][0]["text"]
        assert shown["hasFile"]
    assert (await again(client, "sub/manual.pdf")).json()["unchanged"] == 1
    (folder / "notes.md").write_bytes(b"")
    broken = await again(client, "notes.md")
    assert (broken.status_code, broken.json()["error"]) == (400, "VALIDATION_ERROR")
    assert "notes.md was not ingested: empty" in broken.json()["message"]
    (folder / "notes.md").unlink()
    assert (await again(client, "notes.md")).status_code == 404
    assert await with_file(client) == {"sub/manual.pdf"}
    assert "white" in (await client.get("/api/v1/documents/notes.md")).text


async def test_an_uploaded_file_is_kept_until_its_document_is_deleted(
    client: httpx.AsyncClient, folder: Path, top: Path
) -> None:
    """An uploaded PDF is shown, and ingested again; one that cannot be read replaces nothing, one that replaced a
    document of a file is no longer that file's, and rows are not kept. Deleting its document deletes the file, and
    no other, whatever the id."""
    pdf = (KNOWLEDGE / "hr_policy.pdf").read_bytes()
    await upload(client, "pier.pdf", pdf)
    assert (await upload(client, "pier.pdf", b"%PDF-1.4 nothing")).status_code == 400
    assert (await client.get("/api/v1/files/pier.pdf")).content == pdf
    assert (await again(client, "pier.pdf")).json()["unchanged"] == 1
    green = b"# Notes\n\nThe lighthouse is green.\n"
    await upload(client, "notes.md", green)
    (folder / "notes.md").write_bytes(b"# Notes\n\nThe lighthouse is blue.\n")
    assert (await again(client, "notes.md")).json()["unchanged"] == 1
    await upload(client, "log.jsonl", LOG.encode())
    (uploads,) = (top / "data").glob("*/uploads")
    assert sorted(file.name for file in uploads.iterdir()) == ["notes.md", "pier.pdf"]
    for document_id in ("pier.pdf", *hostile(top)):
        await client.delete(f"/api/v1/documents/{quote(document_id, safe='')}")
    assert [file.name for file in uploads.iterdir()] == ["notes.md"]
    assert (top / "secret.pdf").exists()
    assert (folder / "rows.jsonl").exists()


async def test_the_pdf_of_a_document_is_shown_and_can_do_nothing(client: httpx.AsyncClient, folder: Path) -> None:
    """Its own bytes, whole or a range, as a PDF to be shown, with headers that let nothing run or embed it."""
    response = await client.get("/api/v1/files/sub%2Fmanual.pdf")
    assert response.content == (folder / "sub/manual.pdf").read_bytes()
    assert response.headers["content-type"] == "application/pdf"
    assert "content-disposition" not in response.headers  # shown, not saved
    assert response.headers["x-content-type-options"] == "nosniff"
    assert "default-src 'none'" in response.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in response.headers["content-security-policy"]
    part = await client.get("/api/v1/files/sub%2Fmanual.pdf", headers={"Range": "bytes=0-3"})
    assert (part.status_code, part.content) == (206, b"%PDF")
    assert (await client.get("/api/v1/files/notes.md")).json()["error"] == "NOT_FOUND"
    with (folder / "sub/manual.pdf").open("ab") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    assert (await client.get("/api/v1/files/sub%2Fmanual.pdf")).status_code == 404


async def test_the_page_of_a_pdf_is_drawn_with_the_quote_marked(client: httpx.AsyncClient, folder: Path) -> None:
    """A folder's PDF and an uploaded one alike: a PNG of the page, marked, with its number; other documents have none.
    A file that cannot be drawn any more is 404."""
    await upload(client, "pier.pdf", (KNOWLEDGE / "hr_policy.pdf").read_bytes())
    for document in ("pier.pdf", "sub/manual.pdf"):
        listed = (await client.get(f"/api/v1/documents/{quote(document, safe='')}")).json()["chunks"]
        chunk = next(listed_chunk for listed_chunk in listed if listed_chunk["page"] == 3)
        end = len(chunk["text"].rstrip())
        start = chunk["text"].rindex(". ", 0, end - 1) + 2
        path = f"/api/v1/pictures/{quote(chunk['chunkId'], safe='')}"
        whole, sentence = await client.get(path), await client.get(path, params={"start": start, "end": end})
        for drawn in (whole, sentence):
            assert (drawn.status_code, drawn.headers["content-type"]) == (200, "image/png")
            assert drawn.content.startswith(b"\x89PNG")
            assert "default-src 'none'" in drawn.headers["content-security-policy"]
            assert drawn.headers["x-page"] == "3"
        assert int(whole.headers["x-marks"]) > int(sentence.headers["x-marks"]) > 0
    for nothing in ("notes.md#0", "nobody#0", "link.pdf#0"):
        assert (await client.get(f"/api/v1/pictures/{quote(nothing, safe='')}")).json()["error"] == "NOT_FOUND"
    assert (await client.get(path, params={"start": -1})).json()["error"] == "VALIDATION_ERROR"
    (folder / "sub/manual.pdf").write_bytes(b"%PDF-1.4 nothing")
    assert (await client.get(path)).json()["error"] == "NOT_FOUND"


async def test_only_files_that_were_ingested_are_read(client: httpx.AsyncClient, top: Path) -> None:
    """Whatever ids the rows of an ingested file bear, they open no file: outside the folder, hidden, or linked."""
    stored = {document["id"] for document in (await client.get("/api/v1/documents")).json()["documents"]}
    assert set(hostile(top)) <= stored
    assert await with_file(client) == {"notes.md", "sub/manual.pdf"}
    for name in (*hostile(top), "secret.pdf", "nobody.pdf"):
        assert (await again(client, name)).status_code == 404, name
        assert (await client.get(f"/api/v1/files/{quote(name, safe='')}")).status_code == 404, name


async def test_who_may_upload_may_ingest_again(container: AppContainer, top: Path) -> None:
    """From elsewhere or under a foreign name it is 403; a content type that a form can send is 400."""
    for host, base in (("10.0.0.7", "http://127.0.0.1:8000"), ("127.0.0.1", "http://rebound.example:8000")):
        async with caller(container, host, base) as elsewhere:
            assert (await again(elsewhere, "notes.md")).json()["error"] == "FORBIDDEN"
    async with caller(container) as here:
        for kind in ("text/plain", "multipart/form-data", "application/x-www-form-urlencoded"):
            refused = await again(here, "notes.md", **{"Content-Type": kind})
            assert refused.json()["details"]["field"] == "Content-Type"


async def test_with_keys_a_key_is_needed(top: Path, container: AppContainer, embedding: EmbeddingModel) -> None:
    """Neither an ingest nor a file is had without one."""
    closed = build_container(load_settings(data_dir=top / "data", api_keys="sesame"), embedding=embedding)
    async with caller(closed) as client:
        assert (await again(client, "notes.md")).json()["error"] == "UNAUTHORIZED"
        assert (await client.get("/api/v1/files/sub%2Fmanual.pdf")).json()["error"] == "UNAUTHORIZED"
        key = {"X-API-Key": "sesame"}
        assert (await again(client, "notes.md", **BYTES, **key)).json()["unchanged"] == 1
        assert (await client.get("/api/v1/files/sub%2Fmanual.pdf", headers=key)).content.startswith(b"%PDF")
    await closed.aclose()


async def test_an_ingest_reports_its_progress_to_who_asks(client: httpx.AsyncClient) -> None:
    """Lines of chunks written and found, which never fall, then the report; or the one error body as the last line."""
    response = await upload(client, "log.jsonl", LOG.encode(), **LINES)
    assert response.headers["content-type"] == "application/x-ndjson"
    *lines, report = map(json.loads, response.text.splitlines())
    written = [(line["chunks"], line["chunksFound"]) for line in lines]
    assert written == sorted(written)
    assert {(64, 150), (128, 150), (150, 150)} <= set(written)
    assert (report["added"], report["chunks"]) == (1, 150)
    broken = await upload(client, "broken.pdf", b"%PDF-1.4 nothing", **LINES)
    assert json.loads(broken.text.splitlines()[-1])["error"] == "VALIDATION_ERROR"
    unnamed = await upload(client, "", **LINES)
    assert (unnamed.status_code, unnamed.json()["details"]["field"]) == (400, "name")


def test_an_upload_whose_sender_leaves_is_stored_whole(tmp_path: Path, embedding: EmbeddingModel) -> None:
    """Once the file has arrived, the connection may close: no document is left half stored."""
    container = build_container(load_settings(data_dir=tmp_path / "data"), embedding=embedding)
    with serve(container) as address, httpx.Client(base_url=address, timeout=30) as client:
        sent = {"params": {"name": "log.jsonl"}, "content": LOG.encode(), "headers": LINES}
        with client.stream("POST", "/api/v1/documents", **sent) as response:
            next(response.iter_lines())
        wait_until(
            lambda: [document["chunks"] for document in client.get("/api/v1/documents").json()["documents"]] == [150]
        )
        assert [chunk["text"] for chunk in client.get("/api/v1/documents/log").json()["chunks"]][-1] == "Day 149."
