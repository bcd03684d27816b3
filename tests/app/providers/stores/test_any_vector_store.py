"""Any LangChain ``VectorStore`` can be searched and asked: without keywords, with filters applied after the search."""

from __future__ import annotations

import logging

import pytest
from langchain_core.documents import Document
from langchain_core.vectorstores import InMemoryVectorStore
from langchain_qdrant import QdrantVectorStore

from app.pipeline.retriever import HybridRetriever
from app.providers.embeddings.models import EmbeddingModel
from app.providers.stores.any_vector_store import AnyVectorStore
from app.providers.stores.make import as_store
from graph.errors import ConfigurationError, StoreUnavailable
from tests.contract.vector_store_kit import EMBEDDING, FRUIT, SIZE, asked, point

MODEL = EmbeddingModel("m", EMBEDDING, SIZE)


def filled() -> InMemoryVectorStore:
    """``FRUIT``, a source each."""
    store = InMemoryVectorStore(EMBEDDING)
    store.add_documents(
        [Document(id=f"f{n}", page_content=text, metadata={"source": f"{n}.md"}) for n, text in enumerate(FRUIT)]
    )
    return store


async def test_it_is_searched_and_measured_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """Chunks and sentences have their cosines; one log line says what such a store cannot do."""
    with caplog.at_level(logging.WARNING, "garden.store"):
        retriever = HybridRetriever(as_store(filled(), MODEL), EMBEDDING)
        found = await retriever.retrieve(asked(FRUIT[1]))
        await retriever.retrieve(asked(FRUIT[2]))
    best = found[0].chunks[0]
    assert (best.chunk_id, best.document_id, best.keyword) == ("f1", "1.md", 0.0)
    assert best.similarity == pytest.approx(1.0, abs=1e-5)
    assert len(best.span_similarities) == 2
    assert [record.getMessage() for record in caplog.records] == ["vector_store_generic"]


async def test_filters_and_ids() -> None:
    """``source`` and other fields are compared here; a chunk is found by its id."""
    store = as_store(filled(), MODEL)
    found = await store.asimilarity_search_with_score("?", k=5, filter={"source": ["0.md", "4.md"]})
    assert {document.id for document, _ in found} == {"f0", "f4"}
    assert [document.page_content for document in await store.aget_by_ids(["f3", "nobody"])] == [FRUIT[3]]
    await store.aprobe()


async def test_a_filter_reads_on_until_enough_pass() -> None:
    """What passes is found however many nearer chunks do not; a beginning and days are compared as in other stores."""
    store = InMemoryVectorStore(EMBEDDING)
    store.add_documents(
        [Document(id=f"n{n}", page_content=f"Note {n}.", metadata={"source": f"n/{n}.md"}) for n in range(600)]
    )
    store.add_documents(
        [Document(id="x", page_content="Quite different.", metadata={"source": "x/1.md", "date": "2024-05-01"})]
    )
    ours = as_store(store, MODEL)
    for where in ({"source": "x/*"}, {"date": {"gte": "2024-05-01"}}):
        assert [document.id for document in await ours.asimilarity_search("Note 7.", k=3, filter=where)] == ["x"]


async def test_a_vendors_own_store_works_and_its_failure_is_ours() -> None:
    """``QdrantVectorStore`` of any origin; once its collection is gone the store is unavailable."""
    theirs = QdrantVectorStore.from_texts(FRUIT, EMBEDDING, location=":memory:", collection_name="theirs")
    store = as_store(theirs, MODEL)
    (row,) = [document for document, _ in await store.asimilarity_search_with_score(FRUIT[2], k=1)]
    assert row.page_content == FRUIT[2]
    theirs.client.delete_collection("theirs")
    with pytest.raises(StoreUnavailable):
        await store.aprobe()


async def test_ingest_into_it_is_refused() -> None:
    """LangChain's interface cannot list what is stored, so the store is filled with its own tools."""
    with pytest.raises(ConfigurationError, match="InMemoryVectorStore can only be searched"):
        await as_store(filled(), MODEL).aupsert([point("a", 0, "h")])


def test_a_store_of_ours_stays_as_it_is() -> None:
    """Only other stores are wrapped."""
    wrapped = AnyVectorStore(filled(), EMBEDDING)
    assert as_store(wrapped, MODEL) is wrapped
