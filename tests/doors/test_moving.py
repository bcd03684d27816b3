"""A garden that moves, breaks and is rebuilt gives the answers it gave before."""

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

from app.bootstrap import build_garden
from app.ingest.pipeline import ingest_into
from app.ingest.sources import note_sources, read_sources
from app.moving.archive import write_archive
from app.moving.command import run_export, run_import, run_push
from app.moving.read_archive import Archive
from app.providers.embeddings import EmbeddingModel
from app.rebuild import run_rebuild
from app.settings import load_settings
from graph.errors import ConfigurationError, StoreUnavailable
from tests.peers import Fault
from tests.peers.qdrant_peer import QdrantPeer

from .conftest import serve

QUESTIONS = [
    "What are the safety protocols for handling chemicals?",
    "What is the company vacation policy?",
    "How do ROS 2 nodes communicate?",
    "What does MAX_CONCURRENT_REQUESTS do?",
    "Who won the football world cup in 1954?",
]
NAME = "corporate_documents"


@pytest.fixture
def data(planted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the planted garden, which the settings name."""
    return lent(planted, tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory, embedding: EmbeddingModel) -> Path:
    """A garden of two noted documents and of two that came without a path, as through a server."""
    folder = tmp_path_factory.mktemp("two")
    pairs = [("noted", "quay"), ("noted", "pier"), ("pushed", "lock"), ("pushed", "weir")]
    for kind, name in pairs:
        (folder / kind).mkdir(exist_ok=True)
        text = f"# The {name}\n\nThe {name} of Larkfield was built in 1887.\n\n## Use\n\nThe {name} is open to all."
        (folder / kind / f"{name}.md").write_text(text)

    async def plant() -> None:
        garden = build_garden(load_settings(data_dir=folder / "data"), embedding=embedding)
        sink = await garden.sink(None)
        await ingest_into(sink, [folder / "noted", folder / "pushed"])
        await garden.aclose()

    asyncio.run(plant())
    note_sources(folder / "data" / NAME, [folder / "noted"])
    return folder / "data"


@pytest.fixture
def small(two: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the garden of four documents, which the settings name."""
    return lent(two, tmp_path, monkeypatch)


def lent(folder: Path, to: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The collection in *folder*, copied with its holes."""
    (to / "data").mkdir()
    subprocess.run(["cp", "-r", folder / NAME, to / "data" / NAME], check=True)
    monkeypatch.setenv("DATA_DIR", str(to / "data"))
    return to / "data"


async def answers(embedding: EmbeddingModel, **settings: Any) -> list[Any]:
    """Outcome, answer and citations of every question, as a garden of these settings gives them."""
    garden = build_garden(load_settings(**settings), embedding=embedding)
    told = [await garden.service.ask({"query": question}) for question in QUESTIONS]
    await garden.aclose()
    return [
        (one.outcome, one.answer, [(cited.chunk_id, cited.start, cited.end) for cited in one.citations]) for one in told
    ]


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_export_and_import_keep_the_answers(
    data: Path, embedding: EmbeddingModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """``garden export`` and ``garden import --json``: the same answers afterwards; another model is refused by name."""
    file = tmp_path / "garden.tar"
    before = asyncio.run(answers(embedding))
    assert run_export(file, collection=None, as_json=True, embedding=embedding) == 0
    exported = printed(capsys)
    shutil.rmtree(data)
    assert run_import(file, collection=None, as_json=True, embedding=embedding) == 0
    imported = printed(capsys)
    assert imported["chunks"] == exported["chunks"] > 100
    assert imported["documents"] == exported["documents"]
    assert asyncio.run(answers(embedding)) == before
    archive, other = Archive(file), tmp_path / "other.tar"
    head = archive.head.model_copy(update={"embedding_model": "nomic-embed-text"})
    asyncio.run(write_archive(other, head, archive.apoints()))
    with pytest.raises(ConfigurationError, match="nomic-embed-text, and EMBEDDING_MODEL is all-MiniLM-L6-v2"):
        run_import(other, collection="other", as_json=True, embedding=embedding)


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
            run_push("qdrant", collection=None, as_json=True, embedding=embedding)
        capsys.readouterr()
        peer.fault = Fault("status", 503, times=2, path=writes)
        assert run_push("qdrant", collection=None, as_json=True, embedding=embedding) == 0
        first = printed(capsys)
        assert run_push("qdrant", collection=None, as_json=True, embedding=embedding) == 0
        again = printed(capsys)
        assert first["chunks"] > 100
        assert (again["documents"], again["chunks"], again["unchanged"]) == (0, 0, first["documents"])
        asked = [one.body for one in peer.asked(f"/collections/{NAME}/index?wait=true")]
        assert {one["field_name"] for one in asked} >= {"metadata.source", "metadata.document_id"}
        assert asyncio.run(answers(embedding, vector_store="qdrant", qdrant_url=peer.url)) == before


def flip(path: Path) -> None:
    """One changed byte where there is data."""
    content = bytearray(path.read_bytes())
    content[100 if len(content) > 100 else 0] ^= 0x20
    path.write_bytes(content)


def halve(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


DAMAGES: dict[str, tuple[str, Callable[[Path], None]]] = {
    "a byte of a vector": ("vector_storage-dense/vectors/chunk_0.mmap", flip),
    "a byte of a text": ("payload_storage/page_0.dat", flip),
    "half the ids": ("mutable_id_tracker.mappings", halve),
    "no version": ("version.info", Path.unlink),
    "half a segment's description": ("segment.json", halve),
}


@pytest.mark.parametrize("kind", DAMAGES)
def test_damage_is_named_and_mended_by_one_command(
    kind: str, small: Path, embedding: EmbeddingModel, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server starts over it, readiness names file and command, and is well after that command without a restart."""
    name, harm = DAMAGES[kind]
    (harmed,) = small.glob(f"{NAME}/shard-*/segments/*/{name}")
    harm(harmed)
    with serve(build_garden(load_settings(), embedding=embedding)) as address:
        ready = httpx.get(f"{address}/health/ready")
        assert ready.status_code == 503
        assert harmed.name in ready.json()["message"]
        assert f"garden rebuild --collection {NAME}" in ready.json()["message"]
        asked = httpx.post(f"{address}/query", json={"query": QUESTIONS[0]})
        assert (asked.status_code, asked.json()["error"]) == (503, "RETRIEVAL_FAILED")
        status = run_rebuild(collection=None, as_json=True, embedding=embedding)
        told = printed(capsys)
        assert httpx.get(f"{address}/health/ready").status_code == 200
    assert list(Path(told["set_aside"]).rglob("payload_storage"))
    assert status == (1 if told["not_recovered"] else 0)
    back = {"a byte of a vector": 2, "a byte of a text": 1}.get(kind)
    if back is not None:  # what could be read is back, whole or not at all
        assert told["documents"] == 2 + len(told["recovered"]) >= 2 + back
        assert len(told["recovered"]) + len(told["not_recovered"]) <= 2


def test_after_a_kill_too(small: Path, embedding: EmbeddingModel) -> None:
    """With no sums of the last closing, damage that would end the process is found by another process."""
    (small / NAME / "sums.json").unlink()
    (ids,) = small.glob(f"{NAME}/shard-*/segments/*/mutable_id_tracker.mappings")
    ids.write_bytes(bytes(one ^ 0x5A for one in ids.read_bytes()))
    with serve(build_garden(load_settings(), embedding=embedding)) as address:
        told = httpx.get(f"{address}/health/ready").json()["message"]
    assert "cannot be opened and read" in told
    assert "garden rebuild" in told


def test_rebuild_says_what_it_cannot_do(
    small: Path, embedding: EmbeddingModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A path that is gone and a document no whole copy of which is left are named; the status says so."""
    note_sources(small / NAME, [tmp_path / "moved-away"])
    (page,) = small.glob(f"{NAME}/shard-*/segments/*/payload_storage/page_0.dat")
    spoil = page.read_bytes()
    at = spoil.index(b"weir")
    page.write_bytes(spoil[:at] + b"wear" + spoil[at + 4 :])
    assert run_rebuild(collection=None, as_json=True, embedding=embedding) == 1
    told = printed(capsys)
    assert told["missing_paths"] == [str(tmp_path / "moved-away")]
    assert told["recovered"] == ["lock.md"]
    assert "weir.md" in told["not_recovered"]
    with pytest.raises(ConfigurationError, match="There is no collection"):
        run_rebuild(collection="nowhere", as_json=True, embedding=embedding)


def test_sources_are_noted(tmp_path: Path) -> None:
    """Paths gather from run to run, made absolute, each once, those of tasks apart."""
    for path in ("a", "b", "a"):
        note_sources(tmp_path, [Path(path)])
    note_sources(tmp_path, [Path("t.jsonl")], tasks=True)
    assert read_sources(tmp_path).paths == (Path("a").absolute(), Path("b").absolute())
    assert read_sources(tmp_path).tasks == (Path("t.jsonl").absolute(),)
    (tmp_path / "sources.json").write_text("{")
    assert read_sources(tmp_path).paths == ()
