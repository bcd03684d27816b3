"""A collection that is moved, damaged or repaired gives the answers it gave before."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from app.bootstrap.compose import build_container
from app.cli.check import run_check
from app.cli.transfer import run_export, run_import, run_push
from app.ingest.manifest import IngestManifest, read_sources
from app.ingest.pipeline import ingest_into
from app.ingest.transfer.archive import Archive, write_archive
from app.providers.embeddings.models import EmbeddingModel
from app.settings import load_settings
from graph.errors import ConfigurationError, StoreUnavailable
from tests.peers import Fault
from tests.peers.qdrant_peer import QdrantPeer
from tests.support.samples_service import serve

QUESTIONS = [
    "What are the safety protocols for handling chemicals?",
    "What is the company vacation policy?",
    "How do ROS 2 nodes communicate?",
    "What does MAX_CONCURRENT_REQUESTS do?",
    "Who won the football world cup in 1954?",
]
NAME = "corporate_documents"


@pytest.fixture
def data(sample_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sample documents, which the settings name."""
    return lent(sample_data, tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, embedding: EmbeddingModel) -> Path:
    """Two documents with a recorded path, and two without, as uploaded ones."""
    folder = tmp_path_factory.mktemp("two")
    pairs = [("noted", "quay"), ("noted", "pier"), ("pushed", "lock"), ("pushed", "weir")]
    for kind, name in pairs:
        (folder / kind).mkdir(exist_ok=True)
        text = f"# The {name}\n\nThe {name} of Larkfield was built in 1887.\n\n## Use\n\nThe {name} is open to all."
        (folder / kind / f"{name}.md").write_text(text)

    async def ingest() -> None:
        container = build_container(load_settings(data_dir=folder / "data"), embedding=embedding)
        noted = IngestManifest(folder / "data" / NAME, [folder / "noted"])
        await ingest_into(container.writer, [folder / "noted"], manifest=noted)
        await ingest_into(container.writer, [folder / "pushed"])
        await container.aclose()

    asyncio.run(ingest())
    return folder / "data"


@pytest.fixture
def small(two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of these four documents, which the settings name."""
    return lent(two, tmp_path, monkeypatch)


def lent(folder: Path, to: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The collection in *folder*, copied with its holes."""
    (to / "data").mkdir()
    subprocess.run(["cp", "-r", folder / NAME, to / "data" / NAME], check=True)
    monkeypatch.setenv("DATA_DIR", str(to / "data"))
    return to / "data"


async def answers(embedding: EmbeddingModel, **settings: Any) -> list[Any]:
    """Outcome, answer and citations of every question, with these settings."""
    container = build_container(load_settings(**settings), embedding=embedding)
    results = [await container.service.ask({"query": question}) for question in QUESTIONS]
    await container.aclose()
    return [
        (result.outcome, result.answer, [(cited.chunk_id, cited.start, cited.end) for cited in result.citations])
        for result in results
    ]


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_export_and_import_keep_the_answers(
    data: Path, embedding: EmbeddingModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``garden export`` and ``garden import --json``: the same answers afterwards; another model is refused by name."""
    file = tmp_path / "garden.tar"
    before = asyncio.run(answers(embedding))
    assert run_export(file, collection=None, as_json=True) == 0
    exported = printed(capsys)
    shutil.rmtree(data)
    assert run_import(file, collection=None, as_json=True) == 0
    imported = printed(capsys)
    assert imported["chunks"] == exported["chunks"] > 100
    assert imported["documents"] == exported["documents"]
    assert asyncio.run(answers(embedding)) == before
    archive, other = Archive(file), tmp_path / "other.tar"
    head = archive.head.model_copy(update={"embedding_model": "nomic-embed-text"})
    asyncio.run(write_archive(other, head, archive.apoints()))
    with pytest.raises(ConfigurationError, match="nomic-embed-text, and EMBEDDING_MODEL is all-MiniLM-L6-v2"):
        run_import(other, collection="other", as_json=True)


def test_every_transfer_works_beside_a_running_server(
    small: Path, embedding: EmbeddingModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Export, delete, import and check while a server has the collection open: it finds what is there each time.

    A deletion forgets where a document was ingested from, and an archive does not hold its file.
    """
    file, path = tmp_path / "two.jsonl.gz", "/api/v1/documents"
    container = build_container(load_settings(), embedding=embedding)
    with serve(container) as address, httpx.Client(base_url=address, timeout=30) as client:
        before = client.get(path).json()
        assert run_export(file, collection=None, as_json=True) == 0
        for document in before["documents"]:
            assert client.delete(f"{path}/{document['id']}").status_code == 200
        assert client.get(path).json()["total"] == 0
        assert run_import(file, collection=None, as_json=True) == 0
        kept = [{**document, "hasFile": False} for document in before["documents"]]
        assert client.get(path).json() == {**before, "documents": kept}
        assert run_check(collection=None, repair=False, as_json=True) == 0
    assert before["total"] == 4


def test_push_copies_everything_and_goes_on_where_it_ended(
    data: Path, embedding: EmbeddingModel, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """``garden push --to qdrant``: failures are tried again, a broken run goes on, a second one writes nothing."""
    before = asyncio.run(answers(embedding))
    with QdrantPeer() as peer:
        monkeypatch.setenv("QDRANT_URL", peer.url)
        writes = f"/collections/{NAME}/points?"
        peer.fault = Fault("status", 401, path=writes)
        with pytest.raises(StoreUnavailable):
            run_push("qdrant", collection=None, as_json=True)
        capsys.readouterr()
        peer.fault = Fault("status", 503, times=2, path=writes)
        assert run_push("qdrant", collection=None, as_json=True) == 0
        first = printed(capsys)
        assert run_push("qdrant", collection=None, as_json=True) == 0
        again = printed(capsys)
        assert first["chunks"] > 100
        assert (again["documents"], again["chunks"], again["unchanged"]) == (0, 0, first["documents"])
        asked = [request.body for request in peer.asked(f"/collections/{NAME}/index?wait=true")]
        assert {body["field_name"] for body in asked} >= {"metadata.source", "metadata.document_id"}
        assert asyncio.run(answers(embedding, vector_store="qdrant", qdrant_url=peer.url)) == before


def in_place(old: bytes, new: bytes) -> Callable[[Path], None]:
    """Put other bytes of the same length in the place of the last of these."""

    def harm(path: Path) -> None:
        content = path.read_bytes()
        at = content.rindex(old)
        path.write_bytes(content[:at] + new + content[at + len(old) :])

    return harm


def blank(start: int, end: int) -> Callable[[Path], None]:
    """Zeros from a share of the file's length, in percent, to another."""

    def harm(path: Path) -> None:
        content = bytearray(path.read_bytes())
        at, after = (len(content) * share // 100 for share in (start, end))
        content[at:after] = bytes(after - at)
        path.write_bytes(content)

    return harm


def halve(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


DAMAGES: dict[str, Callable[[Path], None]] = {
    "a word of a text": in_place(b"The weir of Larkfield was built", b"The wear of Larkfield was built"),
    "the header": blank(0, 1),
    "half the file": halve,
    "a third of the file": blank(60, 95),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_is_named_and_mended_by_one_command(
    kind: str, small: Path, embedding: EmbeddingModel, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server starts over it, a question names the command, and all is well after that command without a restart."""
    DAMAGES[kind](small / NAME / "garden.sqlite3")
    with serve(build_container(load_settings(), embedding=embedding)) as address:
        asked = httpx.post(f"{address}/query", json={"query": "When was the weir of Larkfield built?"}, timeout=30)
        assert (asked.status_code, asked.json()["error"]) == (503, "RETRIEVAL_FAILED")
        assert f"garden check --repair --collection {NAME}" in asked.json()["message"]
        assert run_check(collection=None, repair=False, as_json=True) == 1
        capsys.readouterr()
        status = run_check(collection=None, repair=True, as_json=True)
        report = printed(capsys)
        assert httpx.get(f"{address}/health/ready", timeout=30).status_code == 200
        assert httpx.post(f"{address}/query", json={"query": "When was the quay built?"}, timeout=30).status_code == 200
    assert status == (1 if report["not_recovered"] or report["set_aside"] else 0)
    assert report["documents"] >= 2  # the noted ones
    if kind == "a word of a text":
        assert (report["not_recovered"], report["documents"]) == (["weir.md"], 3)
    assert run_check(collection=None, repair=False, as_json=True) == 0


def test_a_repair_says_what_it_cannot_do(
    small: Path, embedding: EmbeddingModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A path that is gone and a document no whole copy of which is left are named; the status says so."""
    IngestManifest(small / NAME, [tmp_path / "moved-away"]).begin()
    in_place(b"The lock of Larkfield was built", b"The luck of Larkfield was built")(small / NAME / "garden.sqlite3")
    assert run_check(collection=None, repair=True, as_json=True) == 1
    report = printed(capsys)
    assert report["missing_paths"] == [str(tmp_path / "moved-away")]
    assert report["not_recovered"] == ["lock.md"]
    with pytest.raises(ConfigurationError, match="There is no collection"):
        run_check(collection="nowhere", repair=False, as_json=True)


def test_sources_are_noted(tmp_path: Path) -> None:
    """Paths gather from run to run, made absolute, each once."""
    for path in ("a", "b", "a"):
        IngestManifest(tmp_path, [Path(path)]).begin()
    assert read_sources(tmp_path) == [Path("a").absolute(), Path("b").absolute()]
    (tmp_path / "ingested.sqlite3").write_text("{")
    assert read_sources(tmp_path) == []
