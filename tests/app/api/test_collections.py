"""Several collections under one store: made by ingest, chosen per request, listed, deleted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from langchain_core.embeddings import DeterministicFakeEmbedding
from qdrant_client import models
from typer.testing import CliRunner

from app.api.uploads import MAX_UPLOAD
from app.bootstrap.collections import MAX_OPEN
from app.bootstrap.compose import AppContainer, build_container
from app.cli.main import app as command
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from graph.errors import InvalidInput, UnknownCollection
from rag_service import RAGService
from tests.peers.qdrant_peer import QdrantPeer
from tests.support.calling import BYTES, caller

NOTE = b"# Pool\n\nThe pool is closed in May.\n"
QUESTION = "When is the pool closed?"


async def add(client: httpx.AsyncClient, collection: str, content: bytes = NOTE) -> httpx.Response:
    params = {"name": "pool.md", "collection": collection}
    return await client.post("/api/v1/documents", params=params, content=content, headers=BYTES)


async def test_a_collection_is_made_by_ingest_chosen_and_deleted(client: httpx.AsyncClient, tmp_path: Path) -> None:
    """It answers where it is named and nowhere else, and takes its uploads with it; readiness never depends on it."""
    default = "corporate_documents"
    assert (await client.get("/api/v1/collections")).json() == {"collections": [default], "default": default}
    assert (await add(client, "sports")).json()["added"] == 1
    assert (await client.get("/api/v1/collections")).json()["collections"] == [default, "sports"]
    asked = {"query": QUESTION, "collection": "sports"}
    assert "May" in (await client.post("/query", json=asked)).json()["answer"]
    assert (await client.post("/query", json={"query": QUESTION})).json()["metadata"]["chunksRetrieved"] == 0
    assert (await client.get("/api/v1/documents")).json()["total"] == 0
    assert (await client.delete("/api/v1/collections/sports")).json() == {"name": "sports"}
    assert not (tmp_path / "data" / "sports").exists()
    refused = await client.post("/query", json=asked)
    assert (refused.status_code, refused.json()["error"]) == (400, "VALIDATION_ERROR")
    assert refused.json()["details"] == {"field": "collection", "unknown": "sports", "collections": [default]}
    assert (await client.delete("/api/v1/collections/sports")).status_code == 404
    assert (await client.get("/health/ready")).status_code == 200
    assert (await add(client, "sports")).json()["added"] == 1
    assert "May" in (await client.post("/query", json=asked)).json()["answer"]


@pytest.mark.parametrize("name", ["", "..", "a/b", "../x", ".hidden", "x" * 101, "tasks", 7, ["a"]])
async def test_what_is_no_collection_is_refused(client: httpx.AsyncClient, tmp_path: Path, name: Any) -> None:
    """400 for a question; nothing is made by an ingest, nothing deleted."""
    refused = await client.post("/query", json={"query": QUESTION, "collection": name})
    assert (refused.status_code, refused.json()["details"]["field"]) == (400, "collection")
    if isinstance(name, str):
        assert (await add(client, name)).status_code == 400
    assert sorted(path.name for path in (tmp_path / "data").iterdir() if path.is_dir()) == [
        "corporate_documents",
        "tasks",
    ]


@pytest.mark.parametrize(
    ("name", "content", "headers", "status"),
    [
        ("pool.pdf", b"%PDF-1.7 cut off", BYTES, 400),
        ("pool.md", b" \n\n", BYTES, 400),
        ("pool.jsonl", b"{}\n{", BYTES, 400),
        ("pool.pdf", b"no PDF", BYTES | {"Accept": "application/x-ndjson"}, 200),  # the failure is the last line
        ("pool.exe", NOTE, BYTES, 400),
        ("pool.md", b"", BYTES, 400),
        ("pool.md", b"x" * (MAX_UPLOAD + 1), BYTES, 413),
    ],
)
async def test_a_rejected_upload_makes_no_collection(
    client: httpx.AsyncClient, tmp_path: Path, name: str, content: bytes, headers: dict[str, str], status: int
) -> None:
    """Whatever is wrong with it, nothing of it is listed or left on the disk; an upload that is right makes it."""
    params = {"name": name, "collection": "sports"}
    refused = await client.post("/api/v1/documents", params=params, content=content, headers=headers)
    assert (refused.status_code, '"error"' in refused.text) == (status, True)
    assert (await client.get("/api/v1/collections")).json()["collections"] == ["corporate_documents"]
    assert (await client.post("/query", json={"query": QUESTION, "collection": "sports"})).status_code == 400
    assert [path.name for path in (tmp_path / "data").glob("*sports*")] == []
    assert (await add(client, "sports")).json()["added"] == 1
    again = await client.post("/api/v1/documents", params=params, content=content, headers=headers)
    assert '"error"' in again.text
    assert (await client.get("/api/v1/documents", params={"collection": "sports"})).json()["total"] == 1


async def test_an_outage_leaves_no_empty_collection(tmp_path: Path, embedding: EmbeddingModel) -> None:
    """Where the documents cannot be embedded, the collection is not made; one that was there stays, empty or not."""

    class Away(DeterministicFakeEmbedding):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            raise ConnectionError("The model is away.")

    away = EmbeddingModel("away", Away(size=embedding.dimension or 384), embedding.dimension)
    container = build_container(load_settings(data_dir=tmp_path), embedding=away)
    async with container.collections.use("older", create=True), caller(container) as client:
        assert [(await add(client, name)).status_code for name in ("sports", "older")] == [503, 503]
        assert await container.collections.names() == ["corporate_documents", "older"]
    await container.aclose()


async def test_the_default_collection_is_not_deleted(client: httpx.AsyncClient) -> None:
    """Its documents are deleted one by one."""
    assert (await client.delete("/api/v1/collections/corporate_documents")).status_code == 400


async def test_a_bounded_number_stays_open(container: AppContainer) -> None:
    """Those used longest ago are closed, those in use are not, and all of them can be asked again."""
    names = [f"c{n}" for n in range(MAX_OPEN + 4)]
    for name in names:
        async with container.collections.use(name, create=True):
            pass
    async with container.collections.use(names[0]) as first:
        for name in names:
            async with container.collections.use(name) as one:
                assert await one.store.acount() == 0
        assert await first.store.acount() == 0
    assert set(names) < set(await container.collections.names())


async def test_the_setting_says_which_may_be_named(tmp_path: Path, embedding: EmbeddingModel) -> None:
    """``COLLECTIONS`` hides every other one, except the default."""
    container = build_container(load_settings(data_dir=tmp_path, collections="a,b"), embedding=embedding)
    async with container.collections.use("a", create=True):
        pass
    with pytest.raises(UnknownCollection):
        await container.collections.resolve("c", create=True)
    assert await container.collections.names() == ["a", "corporate_documents"]
    await container.aclose()


async def test_collections_of_a_server(embedding: EmbeddingModel, tmp_path: Path) -> None:
    """A Qdrant server's are listed, made by ingest, asked and deleted; one of another vector size fails by itself."""
    with QdrantPeer() as peer:
        settings = load_settings(vector_store="qdrant", qdrant_url=peer.url, data_dir=tmp_path)
        container = build_container(settings, embedding=embedding)
        async with caller(container) as client:
            for name in ("corporate_documents", "sports"):
                assert (await add(client, name)).status_code == 200
            narrow = models.VectorParams(size=3, distance=models.Distance.COSINE)
            peer.engine.create_collection("narrow", vectors_config=narrow)
            listed = (await client.get("/api/v1/collections")).json()["collections"]
            assert listed == ["corporate_documents", "narrow", "sports"]
            failed = await client.post("/query", json={"query": QUESTION, "collection": "narrow"})
            assert (failed.status_code, failed.json()["error"]) == (503, "RETRIEVAL_FAILED")
            asked = {"query": QUESTION, "collection": "sports"}
            assert "May" in (await client.post("/query", json=asked)).json()["answer"]
            assert (await client.post("/query", json={**asked, "collection": "other"})).status_code == 400
            assert (await client.delete("/api/v1/collections/sports")).status_code == 200
            assert not peer.engine.collection_exists("sports")
        await container.aclose()


def test_the_library_and_the_commands_choose_one(
    tmp_path: Path, embedding: EmbeddingModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``garden ingest --collection`` makes it; ``ask``, ``search``, ``collections`` and ``RAGService`` find it."""
    monkeypatch.setenv("DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "pool.md").write_bytes(NOTE)

    def run(*arguments: str) -> Any:
        return CliRunner().invoke(command, [*arguments])

    assert run("ingest", str(tmp_path / "pool.md"), "--collection", "sports").exit_code == 0
    assert run("collections").stdout.split() == ["corporate_documents", "sports"]
    assert "May" in run("ask", QUESTION, "--collection", "sports").stdout
    unknown = run("ask", QUESTION, "--collection", "sport")
    assert (unknown.exit_code, "sports" in unknown.stderr) == (2, True)
    found = json.loads(run("search", QUESTION, "--collection", "sports", "--filter", "type=md", "--json").stdout)
    assert [hit["document_id"] for hit in found["results"]] == ["pool.md"]
    wrong = run("search", QUESTION, "--collection", "sports", "--filter", "kind=md")
    assert (wrong.exit_code, "type" in wrong.stderr) == (2, True)
    container = build_container(load_settings(), embedding=embedding)
    with RAGService(container=container) as service:
        assert "May" in (service.query(QUESTION, collection="sports").answer or "")
        assert service.query(QUESTION).answer is None
        assert service.query(QUESTION, collection="sport").error_type == "InvalidQuery"
        assert service.query(QUESTION, {"folder": "elsewhere"}, collection="sports").answer is None
        assert service.query(QUESTION, {"fold": "x"}, collection="sports").error_type == "InvalidQuery"
        assert service.retrieve(QUESTION, collection="sports", source="pool*").results
        with pytest.raises(InvalidInput):
            service.retrieve(QUESTION, collection="sport")
    assert run("collections", "--delete", "sports").stdout.split() == ["corporate_documents"]
    assert run("collections", "--delete", "sports").exit_code == 2
