"""A Qdrant server as the store: the kit over the wire, the keyword channel, other pipelines' collections, failures.

The server is a peer: our wire in front of qdrant-client's own engine.
"""

from __future__ import annotations

import asyncio
import logging
import math
import re
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from langchain_qdrant import QdrantVectorStore, RetrievalMode
from qdrant_client import models

from answering.text.terms import question_stems
from app.pipeline.retriever import MAX_ALIKE, HybridRetriever
from app.providers.embeddings.models import EmbeddingModel
from app.providers.stores.embedded import EmbeddedStore
from app.providers.stores.hybrid import HybridQuery, dimension, document_weights
from app.providers.stores.layout import indexed_text
from app.providers.stores.make import make_store
from app.providers.stores.qdrant import QdrantStore
from app.settings import load_settings
from graph.errors import ConfigurationError, StoreUnavailable
from tests.contract.vector_store_kit import EMBEDDING, FRUIT, SIZE, RemoteStoreKit, asked, documents, point
from tests.peers import Fault
from tests.peers.qdrant_peer import QdrantPeer
from tests.peers.wire import SECRET, FaultKind
from tests.support.vectors import question_vector

KEY = "qdrant-test-key"


@pytest.fixture
def peer() -> Iterator[QdrantPeer]:
    with QdrantPeer(KEY) as started:
        yield started


def store_of(peer: QdrantPeer, name: str = "c", seconds: float = 30.0, size: int | None = SIZE) -> QdrantStore:
    settings = load_settings(qdrant_url=peer.url, qdrant_api_key=KEY, vector_store_timeout_seconds=seconds)
    return QdrantStore(EMBEDDING, settings, name, size)


@pytest.fixture
async def store(peer: QdrantPeer) -> AsyncIterator[QdrantStore]:
    made = store_of(peer, f"test-{uuid.uuid4()}")
    yield made
    await made.aclose()


class TestQdrant(RemoteStoreKit):
    """The kit over Qdrant."""


async def test_keywords_are_measured_as_bm25_says(store: QdrantStore) -> None:
    """The idf is exact, for terms that are nowhere too, and the weights are those of the stored text."""
    texts = ["Apples are red.", "Pears are green and pears are sweet.", "Plums and pears."]
    await store.aupsert([point(f"d{n}", 0, "h", text) for n, text in enumerate(texts)])
    stems = list(question_stems("Are pears or kiwis sweet?"))
    terms = {stem: dimension(stem) for stem in stems}
    hits = await store.ahybrid([HybridQuery(question_vector(EMBEDDING, "?"), tuple(terms.values()))], 3)
    weights = [document_weights(indexed_text({"title": "So"}, text)) for text in texts]
    for term in terms.values():
        n = sum(term in weight for weight in weights)
        assert hits.idf[term] == pytest.approx(math.log(1 + (3 - n + 0.5) / (n + 0.5)), rel=1e-4)
    for candidate in hits.candidates[0]:
        assert candidate.sparse == pytest.approx(weights[int(candidate.chunk.document_id[1:])], rel=1e-5)


async def test_the_keyword_channel_finds_what_the_vectors_do_not(store: QdrantStore) -> None:
    """With one candidate a channel, the word decides."""
    await store.aupsert([point(f"d{n}", 0, "h", text) for n, text in enumerate(FRUIT)])
    for n, word in enumerate(["apples", "pears", "plums", "figs", "limes"]):
        stems = tuple(map(dimension, question_stems(word)))
        hits = await store.ahybrid([HybridQuery(question_vector(EMBEDDING, word), stems)], 1)
        assert f"d{n}" in {candidate.chunk.document_id for candidate in hits.candidates[0]}


async def test_sentence_vectors_are_read_and_not_computed(peer: QdrantPeer, store: QdrantStore) -> None:
    """Of our own collections no sentence is embedded again; those of the best candidates are read."""
    await store.aupsert([point(f"d{n}", 0, "h", text) for n, text in enumerate(FRUIT)])
    before = EMBEDDING.texts
    found = await HybridRetriever(store, EMBEDDING).retrieve(asked(FRUIT[0]))
    assert EMBEDDING.texts == before
    apples = next(chunk for chunk in found[0].chunks if chunk.document_id == "d0")
    assert apples.span_similarities[0] == pytest.approx(1.0, abs=5e-3)
    assert apples.keyword > 0


async def test_chunks_that_others_write_into_our_collection_are_read(
    peer: QdrantPeer, store: QdrantStore, caplog: pytest.LogCaptureFixture
) -> None:
    """They hold no sentence vectors: their sentences are embedded when needed."""
    await store.aupsert([point(f"d{n}", 0, "h", text) for n, text in enumerate(FRUIT[1:])])
    (row,) = EMBEDDING.embed_documents([FRUIT[0]])
    payload = {"page_content": FRUIT[0], "metadata": {"document_id": "theirs"}}
    peer.engine.upsert(store.collection, [models.PointStruct(id=7, vector={"dense": row}, payload=payload)])
    found = await HybridRetriever(store, EMBEDDING).retrieve(asked(FRUIT[0]))
    theirs, *ours = found[0].chunks
    assert (theirs.document_id, len(ours)) == ("theirs", len(FRUIT) - 1)
    assert theirs.similarity == pytest.approx(1.0, abs=1e-5)
    assert theirs.span_similarities == pytest.approx([1.0], abs=1e-5)
    assert "no_sentence_vectors" not in caplog.messages
    assert "no_sparse_vectors" not in caplog.messages


FOREIGN = [
    ("Wear goggles. Wear gloves.", {"source_doc": "safety.pdf", "page_number": 5, "section_title": "Acids"}),
    ("Holidays are thirty days.", {"source_doc": "hr.pdf", "page_number": 1}),
]


def foreign(peer: QdrantPeer, name: str, distance: models.Distance, *, nested: bool, named: str) -> None:
    """A collection as another pipeline makes it; one with a vector named "dense" has one named "bm25" too."""
    params = models.VectorParams(size=SIZE, distance=distance)
    words = {"bm25": models.SparseVectorParams(modifier=models.Modifier.IDF)} if named == "dense" else None
    peer.engine.create_collection(name, {named: params} if named else params, words)
    rows = 3.0 * np.array(EMBEDDING.embed_documents([text for text, _ in FOREIGN]))
    points = []
    for at, ((text, fields), row) in enumerate(zip(FOREIGN, rows.tolist(), strict=True)):
        payload = {"page_content": text, "metadata": fields} if nested else {"text": text, **fields}
        points.append(models.PointStruct(id=at, vector={named: row} if named else row, payload=payload))
    peer.engine.upsert(name, points)


@pytest.mark.parametrize("distance", [models.Distance.COSINE, models.Distance.DOT, models.Distance.EUCLID])
@pytest.mark.parametrize(("nested", "named"), [(False, ""), (True, ""), (False, "text-dense"), (False, "dense")])
async def test_a_collection_of_another_pipeline_is_read_as_it_is(
    peer: QdrantPeer,
    store: QdrantStore,
    distance: models.Distance,
    nested: bool,
    named: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Unnamed or otherwise named vectors, flat or nested payloads; what is missing is logged once."""
    foreign(peer, store.collection, distance, nested=nested, named=named)
    retriever = HybridRetriever(store, EMBEDDING)
    with caplog.at_level(logging.WARNING, "garden.store"):
        found = await retriever.retrieve(asked(FOREIGN[0][0]))
        only = await retriever.retrieve(asked("?", "hr.pdf"))
    chunk = found[0].chunks[0]
    assert (chunk.document_id, chunk.page, chunk.section, chunk.keyword) == ("safety.pdf", 5, "Acids", 0.0)
    assert chunk.similarity == pytest.approx(1.0, abs=1e-5)
    assert len(chunk.span_similarities) == 2
    assert [chunk.document_id for chunk in only[0].chunks] == ["hr.pdf"]
    assert [document.page_content for document in await store.aget_by_ids([chunk.chunk_id])] == [chunk.text]
    reported = [record.getMessage() for record in caplog.records]
    assert reported == ["no_sparse_vectors", "no_sentence_vectors"][named == "dense" :]


async def test_our_collection_is_made_in_the_layout_of_the_embedded_engine(
    peer: QdrantPeer, store: QdrantStore
) -> None:
    """Dense, sentences and BM25 with IDF; payloads as langchain-qdrant writes them, on disk."""
    await store.aupsert([point("a", 0, "h")])
    params = peer.engine.get_collection(store.collection).config.params
    assert isinstance(params.vectors, dict)
    assert set(params.vectors) == {"dense", "sentences"}
    assert (params.sparse_vectors or {})["bm25"].modifier == models.Modifier.IDF
    made = next(r for r in peer.requests if r.method == "PUT" and r.path == f"/collections/{store.collection}")
    assert made.body["on_disk_payload"] is True
    (stored,), _ = peer.engine.scroll(store.collection)
    assert set(stored.payload or {}) == {"page_content", "metadata"}
    indexed = {r.body["field_name"] for r in peer.requests if "/index" in r.path}
    assert indexed == {"metadata.document_id", "metadata.source", "metadata.status", "metadata.priority"}


async def test_the_chunks_of_a_question_come_in_one_request(peer: QdrantPeer, store: QdrantStore) -> None:
    """Of a question with two parts too: the best of each, with all their vectors; before it only the idf is asked."""
    await store.aupsert([point(f"d{n}", 0, "h", text) for n, text in enumerate(FRUIT)])
    await store.aprobe()
    peer.requests.clear()
    found = await HybridRetriever(store, EMBEDDING, pool=5).retrieve(asked("Apples?", None, FRUIT[0], FRUIT[2]))
    assert [len(result.chunks) for result in found] == [5, 5]
    paths = [request.path.rpartition("/points")[2] for request in peer.requests]
    assert set(paths[:-1]) <= {"/query/batch", "/count"}
    assert paths[-1] == "/query/batch"
    searches = peer.requests[-1].body["searches"]
    assert [(search["limit"], search["with_vector"]) for search in searches] == [
        (MAX_ALIKE * 5, ["dense", "bm25", "sentences"])
    ] * 2


async def test_the_server_keeps_the_chunks_that_the_embedded_store_keeps(store: QdrantStore, tmp_path: Path) -> None:
    """The best of both channels, weighted, though each channel alone has others first."""
    rng = np.random.default_rng(7)
    words = ["apples", "pears", "plums", "figs", "limes", "are", "sweet", "and", "green", "often"]
    texts = [" ".join(rng.choice(words, 8)).capitalize() + "." for _ in range(60)]
    points = [point(f"d{n}", 0, "h", text) for n, text in enumerate(texts)]
    embedded = EmbeddedStore(EMBEDDING, tmp_path, "c", SIZE)
    embedded.open()
    for each in (store, embedded):
        await each.aupsert(points)
    for text in ("Are figs sweet and green?", "pears", "limes limes often", "nothing of these"):
        question = asked(text)
        here = await HybridRetriever(embedded, EMBEDDING, pool=7).retrieve(question)
        there = await HybridRetriever(store, EMBEDDING, pool=7).retrieve(question)
        assert [chunk.chunk_id for chunk in there[0].chunks] == [chunk.chunk_id for chunk in here[0].chunks]
        for ours, theirs in zip(here[0].chunks, there[0].chunks, strict=True):
            assert theirs.similarity == pytest.approx(ours.similarity, abs=1e-5)
            assert theirs.keyword == pytest.approx(ours.keyword, abs=1e-5)
            assert theirs.span_similarities == pytest.approx(ours.span_similarities, abs=5e-3)
    await embedded.aclose()


async def test_langchain_qdrant_reads_what_we_store(peer: QdrantPeer, store: QdrantStore) -> None:
    """Its ``QdrantVectorStore`` finds our chunks with their metadata in both channels."""
    await store.aupsert([point(f"d{n}", 0, "h", text) for n, text in enumerate(FRUIT)])
    theirs = QdrantVectorStore(
        peer.engine,
        store.collection,
        EMBEDDING,
        RetrievalMode.DENSE,
        vector_name="dense",
    )
    found = theirs.similarity_search(indexed_text({"title": "So"}, FRUIT[2]), k=1)
    assert [(result.page_content, result.metadata["document_id"]) for result in found] == [(FRUIT[2], "d2")]


async def test_what_langchain_qdrant_stores_is_read(peer: QdrantPeer, store: QdrantStore) -> None:
    """A collection that its ``QdrantVectorStore`` made, with its unnamed vector."""
    params = models.VectorParams(size=SIZE, distance=models.Distance.COSINE)
    peer.engine.create_collection(store.collection, params)
    theirs = QdrantVectorStore(peer.engine, store.collection, EMBEDDING)
    theirs.add_texts(FRUIT, [{"source": f"{n}.md"} for n in range(len(FRUIT))])
    found = await HybridRetriever(store, EMBEDDING).retrieve(asked(FRUIT[3]))
    best = found[0].chunks[0]
    assert (best.text, best.source) == (FRUIT[3], "3.md")


async def test_a_connection_is_kept_for_the_next_request() -> None:
    """To a server on this machine too, to which qdrant-client by itself opens one for each request."""
    accepted = 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal accepted
        accepted += 1
        body = b'{"result": {"count": 5}, "status": "ok", "time": 0}'
        with suppress(asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                await reader.readexactly(int(re.findall(rb"(?i)content-length: (\d+)", head)[0]))
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        store = QdrantStore(EMBEDDING, load_settings(qdrant_url=address), "c", SIZE)
        assert [await store.acount() for _ in range(4)] == [5] * 4
        await store.aclose()
    assert accepted == 1


def test_another_vector_size_stops_the_start(peer: QdrantPeer) -> None:
    """In one line that names both sizes."""
    foreign(peer, "odd", models.Distance.COSINE, nested=False, named="")
    settings = load_settings(vector_store="qdrant", qdrant_url=peer.url, qdrant_api_key=KEY)
    with pytest.raises(ConfigurationError, match=f"{SIZE} dimensions.* makes 384"):
        make_store(settings, "odd", EmbeddingModel("m", EMBEDDING, 384))


async def test_down_at_the_start_and_back(peer: QdrantPeer) -> None:
    """An outage does not stop the start, and is over without a restart of ours."""
    peer.refuse()
    settings = load_settings(vector_store="qdrant", qdrant_url=peer.url, qdrant_api_key=KEY)
    store = await asyncio.to_thread(make_store, settings, "late", EmbeddingModel("m", EMBEDDING, SIZE))
    with pytest.raises(StoreUnavailable, match="cannot be reached"):
        await store.aprobe()
    peer.listen()
    await asyncio.sleep(1.1)
    await store.aadd_documents(documents())
    assert await store.acount() == len(documents())
    await store.aclose()


@pytest.mark.parametrize("kind", ["hangup", "silence", "garbage", "huge"])
async def test_every_fault_is_ours(peer: QdrantPeer, kind: FaultKind) -> None:
    """Whatever goes wrong on the wire is ``StoreUnavailable``, and repeats no text of the server."""
    peer.fault = Fault(kind)
    store = store_of(peer, seconds=0.4 if kind == "silence" else 20)
    with pytest.raises(StoreUnavailable) as caught:
        await store.asimilarity_search("?")
    assert SECRET not in f"{caught.value.message} {caught.value.details}"
    await store.aclose()


@pytest.mark.parametrize(("status", "calls"), [(400, 1), (401, 1), (404, 1), (429, 3), (500, 3), (503, 3)])
async def test_every_status_is_ours(peer: QdrantPeer, status: int, calls: int) -> None:
    """A 404 of a server that is no Qdrant is no missing collection; 429 and 5xx are tried three times in all."""
    peer.fault = Fault("status", status, retry_after="0")
    store = store_of(peer)
    with pytest.raises(StoreUnavailable) as caught:
        await store.asimilarity_search("?")
    assert caught.value.details == {"status": status}
    assert len(peer.requests) == calls
    await store.aclose()


def test_a_key_that_travels_unencrypted_is_logged_but_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    """Where the address is plain http."""
    with caplog.at_level(logging.WARNING, "garden.store"):
        QdrantStore(EMBEDDING, load_settings(qdrant_url="http://localhost:6333", qdrant_api_key=KEY), "c")
    assert [record.getMessage() for record in caplog.records] == ["qdrant_key_unencrypted"]
    assert KEY not in caplog.text
