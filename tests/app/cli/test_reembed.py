"""``garden reembed``: a collection moves to another encoder, whatever happens meanwhile."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from app.bootstrap.compose import build_container
from app.bootstrap.storage import open_storage
from app.cli.reembed import run_reembed
from app.ingest.manifest import IngestManifest, read_sources
from app.ingest.pipeline import ingest_into
from app.ingest.transfer.copy import reembed
from app.providers.embeddings.models import EmbeddingModel, make_embeddings
from app.settings import Settings, load_settings
from graph.errors import ConfigurationError
from tests.contract.text_encoder import SIZE, write_text_encoder
from tests.support.forked import Forked
from tests.support.samples_service import serve

NAME = "corporate_documents"
WORDS = ["When was the pier of Larkfield built? The quay lock weir is open to all in 1887. Use"]
REEMBED = """
import os, sys
from app.cli.reembed import run_reembed

os.environ["DATA_DIR"], os.environ["EMBEDDING_MODEL"] = sys.argv[1:]
print("ready", flush=True)
run_reembed(collection=None, to=None, as_json=True)
"""


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """A folder of documents, of several chunks each."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name in ("quay", "pier", "lock", "weir"):
        text = f"The {name} of Larkfield was built in 1887.\n\n## Use\n\nThe {name} is open to all."
        (folder / f"{name}.md").write_text(f"# The {name}\n\n{text}\n")
    return folder


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    """The folder of another encoder."""
    return write_text_encoder(tmp_path / "other", WORDS)


@pytest.fixture
def data(corpus: Path, tmp_path: Path, embedding: EmbeddingModel, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with these documents, embedded by the default encoder; the settings name it."""
    folder = tmp_path / "data"
    monkeypatch.setenv("DATA_DIR", str(folder))
    asyncio.run(ingest(load_settings(), corpus, embedding))
    return folder


async def ingest(settings: Settings, corpus: Path, model: EmbeddingModel | None = None) -> Any:
    storage = open_storage(settings, embedding=model)
    manifest = IngestManifest(settings.data_dir / NAME, [corpus])
    report = await ingest_into(storage.writer, [corpus], manifest=manifest)
    await storage.aclose()
    return report


async def contents(settings: Settings) -> dict[str, tuple[str, str, Any]]:
    """Chunk id -> text, hash and vector of what is stored."""
    storage = open_storage(settings)
    points = [point async for page in storage.store.apoints() for point in page]
    await storage.aclose()
    return {point.chunk_id: (point.text, point.metadata["content_hash"], point.dense) for point in points}


def printed(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_another_encoder_is_an_error_at_the_start(data: Path, encoder: Path) -> None:
    """A collection of another encoder's vectors stops the start, and the message names both and the remedy."""
    message = r"made with EMBEDDING_MODEL=all-MiniLM-L6-v2, and EMBEDDING_MODEL is other: .* garden reembed"
    with pytest.raises(ConfigurationError, match=message):
        build_container(load_settings(embedding_model=str(encoder)))


def test_another_encoder_of_the_same_size_too(data: Path, embedding: EmbeddingModel) -> None:
    """The name of the encoder counts, not the size of its vectors alone."""
    same_size = EmbeddingModel("of the same size", embedding.embeddings, embedding.dimension)
    with pytest.raises(ConfigurationError, match="EMBEDDING_MODEL is of the same size"):
        build_container(load_settings(), embedding=same_size)


def test_a_collection_moves(
    data: Path, corpus: Path, encoder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The same chunks have the other encoder's vectors; an ingest finds nothing to do; the old collection is kept."""
    before = asyncio.run(contents(load_settings()))
    monkeypatch.setenv("EMBEDDING_MODEL", str(encoder))
    assert run_reembed(collection=None, to=None, as_json=True) == 0
    (moved,) = printed(capsys)["collections"]
    assert (moved["documents"], moved["chunks"]) == (4, len(before))
    settings = load_settings()
    after = asyncio.run(contents(settings))
    assert {one: kept[:2] for one, kept in after.items()} == {one: kept[:2] for one, kept in before.items()}
    assert {len(vector) for _, _, vector in after.values()} == {SIZE}
    assert read_sources(data / NAME) == [corpus]
    report = asyncio.run(ingest(settings, corpus))
    assert (report.added, report.unchanged) == (0, 4)
    kept = load_settings(embedding_model="all-MiniLM-L6-v2", vector_store_collection=Path(moved["kept"]).name)
    for one, (text, _, vector) in asyncio.run(contents(kept)).items():
        assert text == before[one][0]
        np.testing.assert_array_equal(vector, before[one][2])
    with pytest.raises(ConfigurationError, match="of other already"):
        run_reembed(collection=None, to=None, as_json=True)


async def test_what_is_stored_already_is_not_embedded_again(
    data: Path, corpus: Path, encoder: Path, embedding: EmbeddingModel
) -> None:
    """A second pass embeds what was added or changed since, deletes what is gone, and a third does nothing."""
    model = make_embeddings(load_settings(embedding_model=str(encoder)))
    source = open_storage(load_settings(), embedding=embedding)
    target = open_storage(load_settings(vector_store_collection="new"), embedding=model)
    total = await source.store.acount()
    first = await reembed(source.store, target.store, model)
    (corpus / "pier.md").write_text("# The pier\n\nIt was pulled down.\n")
    (corpus / "mill.md").write_text("# The mill\n\nIt grinds.\n")
    await ingest_into(source.writer, [corpus])
    gone = await source.store.adelete_documents(["lock.md"])
    second, third = [await reembed(source.store, target.store, model) for _ in range(2)]
    assert (first.chunks, first.deleted) == (total, 0)
    assert second.chunks == 2
    assert second.deleted > gone
    assert (third.chunks, third.deleted) == (0, 0)
    assert await target.store.adocuments() == await source.store.adocuments()
    assert await target.store.acount() == await source.store.acount()
    await target.aclose()
    await source.aclose()


def test_killed_and_run_again(data: Path, encoder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Killed at several moments, it leaves a collection that is served; the next run ends what was begun."""
    before = asyncio.run(contents(load_settings()))
    for seconds in (0.0, 0.2, 0.5, 0.8):
        monkeypatch.setenv("EMBEDDING_MODEL", str(encoder))
        with Forked(REEMBED, data, encoder) as process:
            assert process.line() == "ready"
            time.sleep(seconds)
            process.kill()
            process.wait()
        moved = (data / f"{NAME}.all-MiniLM-L6-v2").exists()
        served = load_settings() if moved else load_settings(embedding_model="all-MiniLM-L6-v2")
        assert asyncio.run(contents(served)).keys() == before.keys()
        if moved:
            return
    assert run_reembed(collection=None, to=None, as_json=True) == 0
    assert asyncio.run(contents(load_settings())).keys() == before.keys()


def test_it_is_served_meanwhile(
    data: Path, encoder: Path, embedding: EmbeddingModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server answers from the old collection until the move, then it says what to do; one started anew answers."""
    question = {"query": "When was the pier of Larkfield built?"}
    with serve(build_container(load_settings(), embedding=embedding)) as address:
        monkeypatch.setenv("EMBEDDING_MODEL", str(encoder))
        assert run_reembed(collection=NAME, to="elsewhere", as_json=True) == 0
        assert "1887" in httpx.post(f"{address}/query", json=question, timeout=30).json()["answer"]
        assert run_reembed(collection=None, to=None, as_json=True) == 0
        late = httpx.post(f"{address}/query", json=question, timeout=30)
        assert (late.status_code, late.json()["error"]) == (503, "RETRIEVAL_FAILED")
    for collection in (NAME, "elsewhere"):
        with serve(build_container(load_settings(vector_store_collection=collection))) as address:
            assert "1887" in httpx.post(f"{address}/query", json=question, timeout=30).json()["answer"]


def test_on_a_server_another_collection_is_filled(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server's collection cannot change its name, so one must be given."""
    monkeypatch.setenv("VECTOR_STORE", "qdrant")
    with pytest.raises(ConfigurationError, match="name it with --to"):
        run_reembed(collection=None, to=None, as_json=True)
