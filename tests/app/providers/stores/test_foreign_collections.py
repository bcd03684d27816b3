"""Collections that others filled: the layouts of Haystack, LlamaIndex and a field of one's own, and none at all."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from qdrant_client import models

from app.pipeline.retriever import HybridRetriever
from app.providers.embeddings.models import EmbeddingModel
from app.providers.stores.make import make_store
from app.providers.stores.payloads import chunk_from_payload, metadata_of, text_of
from app.providers.stores.qdrant import QdrantStore
from app.settings import load_settings
from graph.errors import ConfigurationError, StoreUnavailable
from tests.contract.vector_store_kit import EMBEDDING, SIZE, asked
from tests.peers.qdrant_peer import QdrantPeer

TEXTS = ["Wear goggles. Wear gloves.", "Leave by the nearest door.", "Holidays are thirty days."]
FILES = ["safety.pdf", "safety.pdf", "hr.pdf"]


def haystack(text: str, file: str, page: int) -> dict[str, Any]:
    """What qdrant-haystack writes: ``Document.to_dict(flatten=False)`` without the vectors."""
    meta = {"file_path": file, "source_id": f"id of {file}", "page_number": page, "split_id": page - 1}
    return {"id": "9f1c", "content": text, "blob": None, "meta": meta, "score": None}


def llama_index(text: str, file: str, page: int) -> dict[str, Any]:
    """What llama-index-vector-stores-qdrant writes: ``node_to_metadata_dict`` with the text in the node."""
    metadata = {"page_label": str(page), "file_name": file, "file_path": f"/data/{file}"}
    node = {"id_": "4d0e", "embedding": None, "metadata": metadata, "text": text, "class_name": "TextNode"}
    known = {"document_id": f"id of {file}", "doc_id": f"id of {file}", "ref_doc_id": f"id of {file}"}
    return {**metadata, "_node_content": json.dumps(node), "_node_type": "TextNode", **known}


def newer_llama_index(text: str, file: str, page: int) -> dict[str, Any]:
    """The same of a ``Node`` whose text is a resource, and whose document is not known."""
    node = {"id_": "4d0e", "text_resource": {"text": text, "path": None}, "class_name": "Node"}
    unknown = dict.fromkeys(("document_id", "doc_id", "ref_doc_id"), "None")
    return {"page_label": str(page), "file_name": file, "_node_content": json.dumps(node), **unknown}


def own(text: str, file: str, page: int) -> dict[str, Any]:
    """A layout that no other program writes."""
    return {"body": {"en": text}, "file_name": file, "page": page}


@pytest.fixture
def peer() -> Iterator[QdrantPeer]:
    with QdrantPeer() as started:
        yield started


@pytest.fixture
async def stores(peer: QdrantPeer) -> AsyncIterator[Any]:
    """Makes stores of the peer's collection with a ``TEXT_FIELD``; closes them."""
    made: list[QdrantStore] = []

    def make(text_field: str = "") -> QdrantStore:
        settings = load_settings(qdrant_url=peer.url, text_field=text_field)
        made.append(QdrantStore(EMBEDDING, settings, "theirs", SIZE))
        return made[-1]

    yield make
    for store in made:
        await store.aclose()


def fill(peer: QdrantPeer, layout: Any) -> None:
    """The texts in that layout, with an unnamed vector."""
    peer.engine.create_collection("theirs", models.VectorParams(size=SIZE, distance=models.Distance.COSINE))
    vectors = EMBEDDING.embed_documents(TEXTS)
    points = [
        models.PointStruct(id=at, vector=vectors[at], payload=layout(text, FILES[at], at + 5))
        for at, text in enumerate(TEXTS)
    ]
    peer.engine.upsert("theirs", points)


@pytest.mark.parametrize(
    ("layout", "text_field"), [(haystack, ""), (llama_index, ""), (newer_llama_index, ""), (own, "body.en")]
)
async def test_text_document_page_and_source_are_found(
    peer: QdrantPeer, stores: Any, layout: Any, text_field: str
) -> None:
    """In a search, by id, in the list of all chunks, and by a filter on the document."""
    fill(peer, layout)
    store = stores(text_field)
    await store.aprobe()
    retriever = HybridRetriever(store, EMBEDDING)
    chunk = (await retriever.retrieve(asked(TEXTS[0])))[0].chunks[0]
    assert (chunk.text, chunk.page) == (TEXTS[0], 5)
    assert "safety.pdf" in (chunk.source or "")
    assert "safety.pdf" in chunk.title
    assert len(chunk.span_similarities) == 2
    assert [document.page_content for document in await store.aget_by_ids([chunk.chunk_id])] == [TEXTS[0]]
    assert sorted([point.text async for page in store.apoints() for point in page]) == sorted(TEXTS)
    (only,) = await retriever.retrieve(asked("?", "hr.pdf"))
    assert [chunk.text for chunk in only.chunks] == [TEXTS[2]]


def test_what_a_node_says_of_itself_is_no_metadata() -> None:
    """Nor is a document called "None" a document; a node that cannot be read has no text."""
    payload = newer_llama_index("It is so.", "m.pdf", 5)
    assert metadata_of(payload) == {"page_label": "5", "file_name": "m.pdf"}
    assert chunk_from_payload("p1", payload).document_id == "m.pdf"
    for node in ("{", "[]", "3", '{"text": null, "text_resource": null}', 5):
        assert text_of({"_node_content": node}) == ""


async def test_a_collection_without_text_is_an_error_that_names_its_fields(peer: QdrantPeer, stores: Any) -> None:
    """In readiness and with the first question, never empty passages."""
    fill(peer, own)
    store = stores()
    for asking in (store.aprobe(), HybridRetriever(store, EMBEDDING).retrieve(asked("?"))):
        with pytest.raises(StoreUnavailable, match=r"have body\.en, file_name, page: TEXT_FIELD must name"):
            await asking


def test_a_collection_without_text_stops_the_start(peer: QdrantPeer) -> None:
    """In one line that names its fields and the setting."""
    fill(peer, own)
    settings = load_settings(vector_store="qdrant", qdrant_url=peer.url)
    with pytest.raises(ConfigurationError, match=r"'theirs' cannot be read: .* body\.en.* TEXT_FIELD"):
        make_store(settings, "theirs", EmbeddingModel("m", EMBEDDING, SIZE))


async def test_chunks_without_text_among_others_are_left_out(peer: QdrantPeer, stores: Any) -> None:
    """As pictures are that another pipeline put beside its texts."""
    fill(peer, haystack)
    (row,) = EMBEDDING.embed_documents(["A picture."])
    picture = models.PointStruct(id=99, vector=row, payload={**haystack("", "picture.png", 1), "content": None})
    peer.engine.upsert("theirs", [picture])
    (found,) = await HybridRetriever(stores(), EMBEDDING).retrieve(asked("A picture."))
    assert sorted(chunk.text for chunk in found.chunks) == sorted(TEXTS)
