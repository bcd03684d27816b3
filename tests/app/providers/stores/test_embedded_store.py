"""The embedded store as a LangChain vector store, and as the store that ingest writes to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding
from langchain_core.vectorstores import VectorStore

from answering.text.sentences import sentence_spans
from app.providers.embeddings.models import make_embeddings
from app.providers.stores.chunk_store import ChunkStore
from app.providers.stores.embedded import EmbeddedStore
from app.providers.stores.layout import Point, indexed_text
from app.providers.stores.make import make_store
from app.settings import load_settings
from graph.errors import ConfigurationError, InvalidInput, StoreUnavailable
from tests.peers import Fault, OllamaPeer

SIZE = 32
EMBEDDING = DeterministicFakeEmbedding(size=SIZE)
FRUIT = ["Apples are red.", "Pears are green. They are sweet.", "Plums are blue.", "Figs are brown.", "Limes are sour."]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EmbeddedStore]:
    """An empty collection."""
    made = EmbeddedStore(EMBEDDING, tmp_path, "garden")
    yield made
    await made.aclose()


def documents(count: int = len(FRUIT)) -> list[Document]:
    """So many documents, every third of one kind."""
    return [
        Document(id=f"f{n}", page_content=FRUIT[n % len(FRUIT)] + f" Number {n}.", metadata={"kind": n % 3, "n": n})
        for n in range(count)
    ]


def cosines(query: str, texts: list[str]) -> list[float]:
    """The cosines of query and texts, from numpy."""
    rows = np.array(EMBEDDING.embed_documents(texts))
    vector = np.array(EMBEDDING.embed_query(query))
    return list(rows @ vector / np.linalg.norm(rows, axis=1) / np.linalg.norm(vector))


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A data folder whose collection holds vectors of ``SIZE``."""
    store = EmbeddedStore(EMBEDDING, tmp_path, "garden")
    store.add_documents(documents())
    store.close()
    return tmp_path


def over_a_wire(data_dir: Path, peer: OllamaPeer) -> EmbeddedStore:
    """The store as it is made at the start, with a model of 64 dimensions."""
    settings = load_settings(data_dir=data_dir, embedding_model="nomic-embed-text", ollama_host=peer.url)
    made = make_store(settings, "garden", make_embeddings(settings))
    assert isinstance(made, EmbeddedStore)
    return made


def test_a_model_over_a_wire_that_does_not_fit_stops_the_start(filled: Path) -> None:
    """It is asked for the size of its vectors; the collection is free again."""
    with OllamaPeer() as peer, pytest.raises(ConfigurationError, match=rf"{SIZE} dimensions.* makes 64"):
        over_a_wire(filled, peer)
    again = EmbeddedStore(EMBEDDING, filled, "garden")
    again.open()
    again.close()


async def test_one_that_answers_later_is_reported_by_probe_and_search(filled: Path) -> None:
    """As an outage of the store, with both sizes: there was no telling at the start."""
    with OllamaPeer() as peer:
        peer.fault = Fault("status", status=404)
        store = await asyncio.to_thread(over_a_wire, filled, peer)
        await store.aprobe()
        peer.fault = None
        with pytest.raises(StoreUnavailable, match=rf"{SIZE} dimensions.* makes 64"):
            await store.asimilarity_search("Which are red?")
        with pytest.raises(StoreUnavailable, match=rf"{SIZE} dimensions.* makes 64"):
            await store.aprobe()
        await store.aclose()


async def test_documents_come_back_as_they_were_given(store: EmbeddedStore) -> None:
    """Added documents are returned with the same text and metadata."""
    given = documents()
    assert await store.aadd_documents(given) == [document.id for document in given]
    assert await store.aget_by_ids(["f3", "nobody", "f1"]) == [given[3], given[1]]
    assert await store.asimilarity_search(given[2].page_content, k=1) == [given[2]]


def test_the_synchronous_methods_do_the_same(store: EmbeddedStore) -> None:
    """The synchronous methods return what the asynchronous ones do."""
    given = documents()
    assert store.add_documents(given) == [document.id for document in given]
    assert store.get_by_ids(["f3", "nobody", "f1"]) == [given[3], given[1]]
    assert store.similarity_search(given[2].page_content, k=1) == [given[2]]
    assert store.delete(["f2", "nobody"]) is True
    assert store.get_by_ids(["f2"]) == []


async def test_every_search_has_an_asynchronous_twin_with_the_same_answer(store: EmbeddedStore) -> None:
    """Every search method and its asynchronous twin return the same documents."""
    await store.aadd_documents(documents())
    assert store.similarity_search("pears", 3) == await store.asimilarity_search("pears", 3)
    assert store.similarity_search_with_score("pears", 3) == await store.asimilarity_search_with_score("pears", 3)


async def test_scores_are_cosines_as_measured_highest_first(store: EmbeddedStore) -> None:
    """Scores are the cosines as measured, highest first."""
    given = documents()
    await store.aadd_documents(given)
    expected = dict(
        zip([d.id for d in given], cosines("pears", [indexed_text({}, d.page_content) for d in given]), strict=True)
    )
    found = await store.asimilarity_search_with_score("pears", k=5)
    assert [document.id for document, _ in found] == sorted(expected, key=lambda document_id: -expected[document_id])
    assert [score for _, score in found] == pytest.approx([expected[document.id] for document, _ in found], abs=1e-6)
    assert min(expected.values()) < 0, "a cosine below 0 stays below 0"
    clipped = await store.asimilarity_search_with_relevance_scores("pears", k=5)
    assert [score for _, score in clipped] == [max(0.0, score) for _, score in found]


async def test_adding_under_the_same_id_replaces(store: EmbeddedStore) -> None:
    """A document added under a stored id replaces the stored one."""
    await store.aadd_texts(["old"], ids=["one"])
    await store.aadd_texts(["new"], ids=["one"])
    assert await store.aget_by_ids(["one"]) == [Document(id="one", page_content="new")]
    assert await store.acount() == 1


async def test_texts_without_ids_get_new_ones(store: EmbeddedStore) -> None:
    """Texts without ids get new ids."""
    first, second = await store.aadd_texts(["a", "a"])
    assert first != second
    assert await store.acount() == 2
    with pytest.raises(ValueError, match="2 documents, but 1 ids"):
        await store.aadd_documents(documents(2), ids=["one"])


async def test_delete_without_ids_deletes_everything(store: EmbeddedStore) -> None:
    """Deleting without ids empties the collection."""
    await store.aadd_documents(documents())
    assert await store.adelete() is True
    assert await store.acount() == 0


async def test_from_texts_makes_and_fills_a_collection(tmp_path: Path) -> None:
    """``from_texts`` makes a collection and adds the texts."""
    made = EmbeddedStore.from_texts(FRUIT, EMBEDDING, ids=list("abcde"), data_dir=tmp_path, collection="one")
    other = await EmbeddedStore.afrom_texts(FRUIT, EMBEDDING, data_dir=tmp_path, collection="two")
    assert isinstance(made, VectorStore)
    assert made.embeddings is EMBEDDING
    assert made.get_by_ids(["b"])[0].page_content == FRUIT[1]
    assert await other.acount() == await made.acount() == len(FRUIT)
    retriever = other.as_retriever(search_kwargs={"k": 2})
    assert len(await retriever.ainvoke("apples")) == 2
    made.close()
    other.close()


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ({"kind": 1}, {n for n in range(60) if n % 3 == 1}),
        ({"n": [4, 8, 15, 99]}, {4, 8, 15}),
        ({"n": [4, 8, 15], "kind": 0}, {15}),
        ({"deep.inside": 3}, {n for n in range(60) if n % 7 == 3}),
        ({"name": "n7"}, {7}),
        ({"n": []}, set()),
        ({"no such field": 1}, set()),
        ({}, set(range(60))),
    ],
)
async def test_filters_run_inside_the_engine_so_n_come_back_when_n_match(
    store: EmbeddedStore, where: dict[str, Any], expected: set[int]
) -> None:
    """Filters run in the store: n results are returned when n match."""
    given = documents(60)
    for document in given:
        n = document.metadata["n"]
        document.metadata |= {"deep": {"inside": n % 7}, "name": f"n{n}"}
    await store.aadd_documents(given)
    found = await store.asimilarity_search("pears", k=max(1, len(expected)), filter=where)
    assert {document.metadata["n"] for document in found} == expected


@pytest.mark.parametrize("where", [{"weight": {"gt": 1}}, {"weight": None}])
async def test_a_filter_the_engine_cannot_compare_is_refused_by_name(
    store: EmbeddedStore, where: dict[str, Any]
) -> None:
    """A filter value that cannot be compared is refused, naming the field."""
    await store.aadd_documents(documents())
    with pytest.raises(InvalidInput) as reported:
        await store.asimilarity_search("pears", filter=where)
    assert reported.value.details["field"] == "weight"


def chunk(document: str, at: int, content_hash: str, text: str = "It is so. It stays so.") -> Point:
    """A point as ingest makes it."""
    spans = sentence_spans(text)
    rows = np.random.default_rng(at).normal(size=(1 + len(spans), SIZE)).astype(np.float32)
    metadata = {
        "chunk_id": f"{document}/{at}",
        "document_id": document,
        "title": "So",
        "chunk_index": at,
        "content_hash": content_hash,
        "spans": [list(span) for span in spans],
    }
    return Point(f"{document}/{at}", text, metadata, rows[0], rows[1:])


async def test_ingest_can_tell_what_is_stored_and_delete_by_document_or_chunk(store: EmbeddedStore) -> None:
    """Ingest can list what is stored, and delete by document or by chunk."""
    chunks: ChunkStore = store
    await chunks.aupsert([chunk(document, at, f"h{document}{at}") for document in "abc" for at in (2, 0, 1)])
    assert await chunks.adocuments() == {"a": "ha0", "b": "hb0", "c": "hc0"}
    assert await chunks.achunk_hashes("b") == {"b/0": "hb0", "b/1": "hb1", "b/2": "hb2"}
    assert await chunks.adelete_documents(["a", "nobody"]) == 3
    assert await chunks.adelete_chunks(["b/1", "a/1"]) == 1
    assert await chunks.acount() == 5
    assert await chunks.adocuments() == {"b": "hb0", "c": "hc0"}
    await chunks.aupsert([chunk("b", 0, "new")])
    assert (await chunks.adocuments())["b"] == "new"
    await chunks.aoptimize()
    await chunks.aprobe()


async def test_many_documents_are_listed_and_deleted_completely(store: EmbeddedStore) -> None:
    """More than the engine hands out in one page."""
    await store.aupsert([chunk(f"d{number // 2}", number % 2, "h") for number in range(1300)])
    assert len(await store.adocuments()) == 650
    assert await store.adelete_documents([f"d{number}" for number in range(600)]) == 1200
    assert await store.acount() == 100
