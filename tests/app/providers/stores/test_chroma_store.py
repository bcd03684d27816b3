"""A real Chroma server as the store: the kit, collections of other pipelines, and what happens when it fails."""

from __future__ import annotations

import asyncio
import logging
import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

import numpy as np
import pytest
from langchain_chroma import Chroma

from app.pipeline.retriever import HybridRetriever
from app.providers.embeddings.models import EmbeddingModel
from app.providers.stores.chroma import ChromaStore
from app.providers.stores.hybrid import HybridQuery
from app.providers.stores.make import make_store
from app.settings import load_settings
from graph.errors import CollectionMissing, ConfigurationError, StoreUnavailable
from tests.contract.vector_store_kit import EMBEDDING, SIZE, RemoteStoreKit, asked, documents, point
from tests.peers import Fault, HttpPeer
from tests.peers.chroma_server import ChromaServer
from tests.peers.wire import SECRET, FaultKind
from tests.support.vectors import question_vector

MANUAL = {
    "ids": ["c1", "c2", "c3"],
    "documents": [
        "Wear goggles. Wear gloves when handling acids.",
        "Leave by the nearest door.",
        "Holidays are thirty days.",
    ],
    "metadatas": [
        {
            "source_doc": "safety_manual.pdf",
            "source_type": "pdf",
            "page_number": 5,
            "section_title": "Chemical Handling",
            "chunk_index": 0,
        },
        {"source_doc": "safety_manual.pdf", "page_number": 7},
        {"source_doc": "hr_policy.pdf", "page_number": 1},
    ],
}


@pytest.fixture(scope="module")
def chroma(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    with ChromaServer(tmp_path_factory.mktemp("chroma")) as server:
        yield server


@pytest.fixture
async def store(chroma: ChromaServer) -> AsyncIterator[ChromaStore]:
    made = ChromaStore(EMBEDDING, chroma.url, f"test-{uuid.uuid4()}", SIZE, seconds=30)
    yield made
    await made.aclose()


class TestChroma(RemoteStoreKit):
    """The kit over a Chroma server."""


def manual(length: float = 1.0) -> dict[str, Any]:
    """Rows of another pipeline, their vectors of this length."""
    return MANUAL | {"embeddings": (length * np.array(EMBEDDING.embed_documents(MANUAL["documents"]))).tolist()}


@pytest.mark.parametrize(("space", "length"), [("cosine", 1.0), ("l2", 0.1), ("l2", 3.0), ("ip", 2.0)])
async def test_a_collection_of_another_pipeline_is_read_as_it_is(
    chroma: ChromaServer, store: ChromaStore, space: str, length: float, caplog: pytest.LogCaptureFixture
) -> None:
    """Fields by their own names, cosines right in every space, no keywords, sentences embedded once; one log line."""
    chroma.fill(store.collection, manual(length), space)
    retriever = HybridRetriever(store, EMBEDDING)
    with caplog.at_level(logging.WARNING, "garden.store"):
        found = await retriever.retrieve(asked(str(MANUAL["documents"][1])))
        embedded = EMBEDDING.texts
        await retriever.retrieve(asked("Something else?"))
    chunk = found[0].chunks[0]
    assert (chunk.chunk_id, chunk.document_id, chunk.page) == ("c2", "safety_manual.pdf", 7)
    assert chunk.similarity == pytest.approx(1.0, abs=1e-5)
    assert {chunk.keyword for chunk in found[0].chunks} == {0.0}
    assert chunk.span_similarities[0] == pytest.approx(1.0, abs=1e-5)
    goggles = next(chunk for chunk in found[0].chunks if chunk.chunk_id == "c1")
    assert (goggles.section, goggles.source, len(goggles.spans)) == ("Chemical Handling", "safety_manual.pdf", 2)
    assert EMBEDDING.texts == embedded, "the second question embeds no sentence again"
    assert [record.getMessage() for record in caplog.records] == ["no_sparse_vectors"]


async def test_the_source_filter_finds_other_pipelines_names(chroma: ChromaServer, store: ChromaStore) -> None:
    """``source`` is ``source_doc`` there, and the store itself filters."""
    chroma.fill(store.collection, manual())
    found = await HybridRetriever(store, EMBEDDING).retrieve(asked("?", "hr_policy.pdf"))
    assert [chunk.chunk_id for chunk in found[0].chunks] == ["c3"]


async def test_a_chunk_without_a_document_is_found(chroma: ChromaServer, store: ChromaStore) -> None:
    """Its text may be among its metadata."""
    rows = [{"text": text, "source_doc": "manual.pdf"} for text in MANUAL["documents"]]
    chroma.fill(store.collection, {**manual(), "documents": None, "metadatas": rows})
    (found,) = await store.asimilarity_search(str(MANUAL["documents"][1]), k=1)
    assert (found.id, found.page_content) == ("c2", MANUAL["documents"][1])


async def test_langchain_chroma_reads_what_we_store_and_we_what_it_stores(
    chroma: ChromaServer, store: ChromaStore
) -> None:
    """Its ``Chroma`` finds our chunks with their metadata, and writes chunks that we find."""
    await store.aupsert([point("a", 0, "h", "Apples are red.")])
    theirs = Chroma(store.collection, EMBEDDING, host="127.0.0.1", port=chroma.port)
    (found,) = theirs.similarity_search("Apples are red.")
    assert (found.page_content, found.metadata["document_id"]) == ("Apples are red.", "a")
    theirs.add_texts(["Pears are green."], [{"source": "pears.md"}])
    (chunk, *_) = (await HybridRetriever(store, EMBEDDING).retrieve(asked("Pears are green.")))[0].chunks
    assert (chunk.text, chunk.source) == ("Pears are green.", "pears.md")


async def test_what_we_store_is_made_for_cosines_and_is_plain_to_others(
    chroma: ChromaServer, store: ChromaStore
) -> None:
    """Flat metadata; spans as JSON text."""
    await store.aupsert([point("a", 0, "h")])
    described = chroma.describe(store.collection)
    assert described["configuration_json"]["hnsw"]["space"] == "cosine"
    (row,) = chroma.rows(described["id"])["metadatas"]
    assert row["spans"] == "[[0,9],[10,22]]"
    assert "page" not in row


def test_another_vector_size_stops_the_start(chroma: ChromaServer) -> None:
    """In one line that names both sizes."""
    name = f"test-{uuid.uuid4()}"
    chroma.fill(name, manual())
    settings = load_settings(vector_store="chroma", vector_store_url=chroma.url, vector_store_collection=name)
    with pytest.raises(ConfigurationError, match=f"{SIZE} dimensions.* makes 384"):
        make_store(settings, name, EmbeddingModel("m", EMBEDDING, 384))
    with pytest.raises(ConfigurationError, match="holds vectors"):
        make_store(settings, name, EmbeddingModel("m", Wider(), None))


class Wider(type(EMBEDDING)):  # type: ignore[misc]
    """A model whose size is only known by asking it."""

    def embed_query(self, text: str) -> list[float]:
        return [*super().embed_query(text), 1.0]


async def test_another_vector_size_found_later_is_reported_by_probe_and_search(
    chroma: ChromaServer, store: ChromaStore
) -> None:
    """As an outage of the store, with the reason; writing says that the setting is wrong."""
    chroma.fill(store.collection, manual())
    other = ChromaStore(EMBEDDING, chroma.url, store.collection, SIZE + 1, seconds=30)
    with pytest.raises(StoreUnavailable, match="dimensions"):
        await other.aprobe()
    with pytest.raises(StoreUnavailable, match="dimensions"):
        await other.ahybrid([HybridQuery(np.ones(SIZE + 1, np.float32), ())], 2)
    odd = point("a", 0, "h")
    with pytest.raises(ConfigurationError, match="dimensions"):
        await store.aupsert([type(odd)("x", "x", {}, np.ones(7, np.float32), odd.sentences)])
    await other.aclose()


async def test_a_collection_made_anew_is_found_again(chroma: ChromaServer, store: ChromaStore) -> None:
    """It has another id then; one that stays away is missing."""
    await store.aadd_documents(documents())
    chroma.drop(store.collection)
    chroma.fill(store.collection, manual())
    assert len((await store.ahybrid([HybridQuery(question_vector(EMBEDDING, "?"), ())], 9)).candidates[0]) == 3
    chroma.drop(store.collection)
    with pytest.raises(CollectionMissing):
        await store.ahybrid([HybridQuery(question_vector(EMBEDDING, "?"), ())], 9)


async def test_down_at_the_start_killed_and_back(tmp_path: Any) -> None:
    """No restart of ours is needed: not when it comes up later, not after a kill."""
    server = ChromaServer(tmp_path)
    settings = load_settings(vector_store="chroma", vector_store_url=server.url, vector_store_timeout_seconds=30)
    made = EmbeddingModel("m", EMBEDDING, SIZE)
    store = await asyncio.to_thread(make_store, settings, "late", made)
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await store.aprobe()
    try:
        await asyncio.to_thread(server.start)
        await store.aadd_documents(documents())
        await asyncio.to_thread(server.kill)
        with pytest.raises(StoreUnavailable):
            await store.asimilarity_search("pears")
        await asyncio.to_thread(server.start)
        assert len(await store.asimilarity_search("pears", k=9)) == len(documents())
    finally:
        server.close()
        await store.aclose()


@pytest.fixture
def peer() -> Iterator[HttpPeer]:
    """A server that is no Chroma, on which faults can be switched on."""
    with HttpPeer() as started:
        yield started


@pytest.mark.parametrize("kind", ["hangup", "silence", "garbage", "huge"])
async def test_every_fault_is_ours(peer: HttpPeer, kind: FaultKind) -> None:
    """Whatever goes wrong on the wire is ``StoreUnavailable``, and repeats no text of the server."""
    peer.fault = Fault(kind)
    store = ChromaStore(EMBEDDING, peer.url, "c", SIZE, seconds=0.4 if kind == "silence" else 20)
    with pytest.raises(StoreUnavailable) as caught:
        await store.asimilarity_search("?")
    assert SECRET not in f"{caught.value.message} {caught.value.details}"
    await store.aclose()


@pytest.mark.parametrize(("status", "calls"), [(400, 1), (401, 1), (404, 1), (429, 3), (500, 3), (503, 3)])
async def test_every_status_is_ours(peer: HttpPeer, status: int, calls: int) -> None:
    """A 404 of a server that is no Chroma is no missing collection; 429 and 5xx are tried three times in all."""
    peer.fault = Fault("status", status, retry_after="0")
    store = ChromaStore(EMBEDDING, peer.url, "c", SIZE)
    with pytest.raises(StoreUnavailable) as caught:
        await store.asimilarity_search("?")
    assert caught.value.details == {"status": status}
    assert len(peer.requests) == calls
    await store.aclose()


async def test_the_text_may_be_in_a_field_of_ones_own(chroma: ChromaServer, store: ChromaStore) -> None:
    """``TEXT_FIELD`` names it; without, the error names the fields."""
    rows = [{"body": text, "file_name": "manual.pdf"} for text in MANUAL["documents"]]
    chroma.fill(store.collection, {**manual(), "documents": None, "metadatas": rows})
    with pytest.raises(StoreUnavailable, match="have body, file_name: TEXT_FIELD"):
        await store.aprobe()
    own_field = ChromaStore(EMBEDDING, chroma.url, store.collection, SIZE, seconds=30, text_field="body")
    (found,) = await own_field.asimilarity_search(str(MANUAL["documents"][1]), k=1)
    assert (found.page_content, found.metadata["file_name"]) == (MANUAL["documents"][1], "manual.pdf")
    await own_field.aclose()
