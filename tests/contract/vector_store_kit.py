"""The contract of a vector store, and of one behind a wire: one suite, run over every provider.

Fixture: ``store``, an empty collection that may not exist yet, made with ``EMBEDDING``.
"""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import DeterministicFakeEmbedding, Embeddings

from answering.text.sentences import sentence_spans
from answering.types import Question
from app.pipeline.retriever import HybridRetriever
from app.providers.embeddings.vectors import unit
from app.providers.stores.hybrid import HybridQuery
from app.providers.stores.layout import Point, indexed_text
from graph.errors import CollectionMissing, InvalidInput, UnknownSource
from tests.support.vectors import question_vector

SIZE = 32
FRUIT = ["Apples are red.", "Pears are green. They are sweet.", "Plums are blue.", "Figs are brown.", "Limes are sour."]


class Counting(Embeddings):
    """Vectors that follow from the text alone; ``texts`` counts what was embedded to be stored."""

    def __init__(self) -> None:
        self._inner = DeterministicFakeEmbedding(size=SIZE)
        self.texts = 0

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.texts += len(texts)
        return self._inner.embed_documents(texts)

    def embed_query(self, text: str) -> list[float]:
        return self._inner.embed_query(text)


EMBEDDING = Counting()


def documents(count: int = len(FRUIT)) -> list[Document]:
    """So many documents, every third of one kind."""
    return [
        Document(id=f"f{n}", page_content=FRUIT[n % len(FRUIT)] + f" Number {n}.", metadata={"kind": n % 3, "n": n})
        for n in range(count)
    ]


def point(document: str, at: int, content_hash: str, text: str = "It is so. It stays so.", **metadata: Any) -> Point:
    """A point as ingest makes it."""
    spans = sentence_spans(text)
    rows = unit(
        EMBEDDING.embed_documents([indexed_text({"title": "So"}, text), *(text[start:end] for start, end in spans)])
    )
    known = {
        "chunk_id": f"{document}/{at}",
        "document_id": document,
        "title": "So",
        "source": document,
        "chunk_index": at,
        "page": None,
        "content_hash": content_hash,
        "spans": [list(span) for span in spans],
    }
    return Point(f"{document}/{at}", text, {**known, **metadata}, rows[0], rows[1:])


def asked(text: str, source: str | list[str] | None = None, *parts: str) -> Question:
    now = time.monotonic()
    return Question(text, parts or (text,), 5, None, {"source": source} if source else None, now, now + 60)


class VectorStoreKit:
    """For every store."""

    async def test_documents_come_back_as_they_were_given(self, store: Any) -> None:
        """Ids, texts and metadata, nested ones too, are what was stored."""
        given = documents()
        given[1].metadata |= {"deep": {"inside": 3, "list": [1, "two"]}, "flag": True, "weight": 1.5}
        assert await store.aadd_documents(given) == [document.id for document in given]
        assert await store.aget_by_ids(["f3", "nobody", "f1"]) == [given[3], given[1]]
        assert await store.asimilarity_search(given[2].page_content, k=1) == [given[2]]

    async def test_scores_are_cosines_as_measured_highest_first(self, store: Any) -> None:
        """Below 0 they stay below 0."""
        given = documents()
        await store.aadd_documents(given)
        rows, query = unit(EMBEDDING.embed_documents([d.page_content for d in given])), EMBEDDING.embed_query("pears")
        expected = dict(zip([d.id for d in given], (rows @ unit(query)).tolist(), strict=True))
        found = await store.asimilarity_search_with_score("pears", k=5)
        assert [document.id for document, _ in found] == sorted(
            expected, key=lambda document_id: -expected[document_id]
        )
        assert [score for _, score in found] == pytest.approx([expected[d.id] for d, _ in found], abs=1e-5)
        assert min(expected.values()) < 0

    async def test_adding_under_the_same_id_replaces_everything(self, store: Any) -> None:
        """Metadata that the new version does not have is gone."""
        await store.aadd_texts(["old"], [{"left": "over", "n": 1}], ids=["one"])
        await store.aadd_texts(["new"], [{"n": 2}], ids=["one"])
        assert await store.aget_by_ids(["one"]) == [Document(id="one", page_content="new", metadata={"n": 2})]
        assert await store.acount() == 1

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            ({"kind": 1}, {n for n in range(60) if n % 3 == 1}),
            ({"n": [4, 8, 15, 99]}, {4, 8, 15}),
            ({"n": [4, 8, 15], "kind": 0}, {15}),
            ({"name": "n7"}, {7}),
            ({"n": []}, set()),
            ({"no such field": 1}, set()),
            ({}, set(range(60))),
        ],
    )
    async def test_filters_run_in_the_store_so_n_come_back_when_n_match(
        self, store: Any, where: dict[str, Any], expected: set[int]
    ) -> None:
        """Equality, any of several values, all of several fields."""
        given = documents(60)
        for document in given:
            n = document.metadata["n"]
            document.metadata |= {"name": f"n{n}"}
        await store.aadd_documents(given)
        found = await store.asimilarity_search("pears", k=max(1, len(expected)), filter=where)
        assert {document.metadata["n"] for document in found} == expected

    @pytest.mark.parametrize("value", [None, {"gt": 1}, {"gte": "2024-13-01"}, {"like": "2024-01-01"}, ["a", None], {}])
    async def test_a_filter_that_cannot_be_compared_is_refused_by_name(self, store: Any, value: Any) -> None:
        """Rather than understood in each store's own way."""
        await store.aadd_documents(documents())
        with pytest.raises(InvalidInput) as reported:
            await store.asimilarity_search("pears", filter={"weight": value})
        assert reported.value.details["field"] == "weight"

    @pytest.mark.parametrize(
        ("where", "expected"),
        [
            ({"source": "hr/leave.md"}, {"hr/leave.md"}),
            ({"source": ["hr/leave.md", "notes.txt"]}, {"hr/leave.md", "notes.txt"}),
            ({"source": "hr/*"}, {"hr/leave.md", "hr/pay.md"}),
            ({"source": ["hr/p*", "it*"]}, {"hr/pay.md", "it.md"}),
            ({"source": "*"}, {"hr/leave.md", "hr/pay.md", "it.md", "notes.txt"}),
            ({"source": "h%"}, set()),
            ({"source": "hr/_ay.md"}, set()),
            ({"folder": "hr", "draft": True}, {"hr/pay.md"}),
            ({"draft": [True, False]}, {"hr/pay.md", "it.md"}),
            ({"draft": 1}, set()),
            ({"version": 1.5}, {"it.md"}),
            ({"level": [2, "none"]}, {"hr/leave.md", "notes.txt"}),
            ({"tags": "pay"}, {"hr/pay.md"}),
            ({"tags": ["pay", "rest"]}, {"hr/leave.md", "hr/pay.md"}),
            ({"tags": "pa"}, set()),
            ({"date": {"gte": "2024-02-01"}}, {"hr/pay.md", "it.md"}),
            ({"date": {"gt": "2024-02-01"}}, {"it.md"}),
            ({"date": {"gte": "2024-01-31", "lt": "2024-02-01"}}, {"hr/leave.md"}),
            ({"date": {"lte": "2024-02-01"}, "folder": "hr"}, {"hr/leave.md", "hr/pay.md"}),
            ({"date": {"gt": "2030-01-01"}}, set()),
        ],
    )
    async def test_a_scope_is_exact(self, store: Any, where: dict[str, Any], expected: set[str]) -> None:
        """Ids and their beginnings, values and lists of each type, and days; all that pass come back, nothing else."""
        fields: dict[str, dict[str, Any]] = {
            "hr/leave.md": {"folder": "hr", "tags": ["rest", "leave"], "date": "2024-01-31", "level": 2},
            "hr/pay.md": {"folder": "hr", "tags": ["pay"], "date": "2024-02-01", "draft": True},
            "it.md": {"folder": "", "date": "2025-06-30", "draft": False, "version": 1.5, "level": 1},
            "notes.txt": {"folder": "", "date": "later", "level": "none"},
        }
        await store.aupsert([point(field, at, "h", **fields[field]) for field in fields for at in range(3)])
        found = await store.asimilarity_search("pears", k=12, filter=where)
        assert sorted(document.metadata["document_id"] for document in found) == sorted([*expected] * 3)
        assert {document.metadata["document_id"]: document.metadata.get("tags") for document in found} == {
            document_id: fields[document_id].get("tags") for document_id in expected
        }

    async def test_an_unknown_source_or_field_is_named_with_what_there_is(self, store: Any) -> None:
        """The nearest ids for a source, the names for a field; what exists and matches nothing is no error."""
        await store.aupsert([point(source, 0, "h", folder="hr") for source in ("hr/leave.md", "hr/pay.md", "it.md")])
        retriever = HybridRetriever(store, EMBEDDING)
        with pytest.raises(UnknownSource) as source:
            await retriever.retrieve(asked("pears", ["it.md", "leave.md"]))
        assert source.value.details == {"field": "source", "unknown": "leave.md", "nearest": ["hr/leave.md"]}
        with pytest.raises(InvalidInput) as field:
            await retriever.retrieve(replace(asked("pears"), where={"author": "Kim"}))
        assert field.value.details["unknown"] == "author"
        assert {"folder", "source", "title"} <= set(field.value.details["fields"])
        assert not {"spans", "content_hash"} & set(field.value.details["fields"])
        (nothing,) = await retriever.retrieve(replace(asked("pears"), where={"folder": "it"}))
        assert nothing.chunks == ()

    async def test_ingest_can_tell_what_is_stored_and_delete_by_document_or_chunk(self, store: Any) -> None:
        """As ``ChunkStore`` says."""
        await store.aupsert([point(document, at, f"h{document}{at}") for document in "abc" for at in (2, 0, 1)])
        assert await store.adocuments() == {"a": "ha0", "b": "hb0", "c": "hc0"}
        assert await store.achunk_hashes("b") == {"b/0": "hb0", "b/1": "hb1", "b/2": "hb2"}
        assert set(await store.achunk_hashes("a", "c", "nobody")) == {
            f"{document}/{at}" for document in "ac" for at in range(3)
        }
        assert await store.adelete_documents(["a", "nobody"]) == 3
        assert await store.adelete_chunks(["b/1", "a/1"]) == 1
        assert await store.acount() == 5
        assert await store.adocuments() == {"b": "hb0", "c": "hc0"}
        assert await store.aowners(["b/0", "b/1", "c/2"]) == {"b/0": "b", "c/2": "c"}
        await store.aupsert([point("b", 0, "new")])
        assert (await store.adocuments())["b"] == "new"
        await store.aoptimize()
        await store.aprobe()

    async def test_each_document_has_its_title_and_the_number_of_its_chunks(self, store: Any) -> None:
        """Title, hash and time of its first chunk, its id without a title; counts follow what is stored and deleted."""
        assert await store.asummaries() == {}
        await store.aupsert(
            [
                point("a", at, f"h{at}", title=title, ingested_at=f"2026-11-23T09:3{at}:00+00:00")
                for at, title in ((2, "Later"), (0, "First"), (1, "Later"))
            ]
        )
        await store.aupsert([point("b/ä", 0, "h", title=None), point("b/ä", 1, "h", title=None)])
        assert await store.asummaries() == {
            "a": ("First", 3, "h0", "2026-11-23T09:30:00+00:00"),
            "b/ä": ("b/ä", 2, "h", None),
        }
        await store.adelete_chunks(["a/0"])
        await store.adelete_documents(["b/ä"])
        assert await store.asummaries() == {"a": ("Later", 2, "h1", "2026-11-23T09:31:00+00:00")}

    @pytest.mark.parametrize("position", ["first", "9" * 5000, [1], {"at": 1}, 1.5])
    async def test_a_position_that_is_no_number_counts_as_the_first(self, store: Any, position: Any) -> None:
        """Other pipelines write what they like into ``chunk_index``; the documents are listed nevertheless."""
        given = point("a", 0, "h")
        await store.aupsert(
            [replace(given, metadata={**given.metadata, "chunk_index": position}), point("a", 1, "part")]
        )
        assert await store.adocuments() == {"a": "h"}

    async def test_nothing_was_ever_stored(self, store: Any) -> None:
        """What ingest asks first has an answer."""
        assert await store.acount() == 0
        assert await store.adocuments() == {}
        assert await store.aowners(["a/1"]) == {}
        assert await store.adelete_documents(["a"]) == 0
        assert await store.adelete_chunks(["a/1"]) == 0

    async def test_hybrid_search_brings_what_there_is_to_measure_by(self, store: Any) -> None:
        """Chunks with unit vectors, per query, the nearest among them; only of the source that is asked for."""
        await store.aupsert([point(f"d{n}", 0, "h", f"{FRUIT[n]} Really so.") for n in range(5)])
        vectors = [question_vector(EMBEDDING, indexed_text({"title": "So"}, f"{FRUIT[n]} Really so.")) for n in (1, 3)]
        hits = await store.ahybrid([HybridQuery(vector, ()) for vector in vectors], 2)
        for found, vector, nearest in zip(hits.candidates, vectors, ("d1", "d3"), strict=True):
            best = max(found, key=lambda document: float(document.dense @ vector))
            assert (best.chunk.document_id, best.chunk.title) == (nearest, "So")
            assert float(best.dense @ vector) == pytest.approx(1.0, abs=2e-4)  # of 32 dimensions, as float16
            assert [best.chunk.text[start:end] for start, end in best.chunk.spans][-1] == "Really so."
        only = await store.ahybrid([HybridQuery(vectors[0], ())], 5, {"source": "d4"})
        assert [candidate.chunk.document_id for candidate in only.candidates[0]] == ["d4"]

    async def test_the_retriever_measures_chunks_and_sentences(self, store: Any) -> None:
        """Through the port of the graph, for both parts of a question."""
        await store.aupsert([point(f"d{n}", 0, "h", f"{FRUIT[n]} Really so.") for n in range(5)])
        found = await HybridRetriever(store, EMBEDDING).retrieve(asked("x", None, "Really so.", FRUIT[2]))
        assert [len(reading.chunks) for reading in found] == [5, 5]
        for chunk in found[0].chunks:
            assert chunk.span_similarities[-1] == pytest.approx(1.0, abs=5e-3)
        plums = next(chunk for chunk in found[1].chunks if chunk.document_id == "d2")
        assert plums.span_similarities[0] == pytest.approx(1.0, abs=5e-3)

    async def test_many_chunks_are_listed_and_deleted_completely(self, store: Any) -> None:
        """More than a store hands out in one page."""
        spare = point("d", 0, "h")
        points = [
            Point(
                f"d{n}",
                spare.text,
                {**spare.metadata, "chunk_id": f"d{n}", "document_id": f"d{n // 2}"},
                spare.dense,
                spare.sentences,
            )
            for n in range(1300)
        ]
        await store.aupsert(points)
        assert len(await store.adocuments()) == 650
        assert await store.adelete_documents([f"d{n}" for n in range(600)]) == 1200
        assert await store.acount() == 100

    async def test_every_chunk_can_be_had_again_with_its_vectors(self, store: Any) -> None:
        """All that was stored is listed: texts, metadata and vectors, each chunk once."""
        given = {
            each.chunk_id: each for each in (point(f"d{n}", 0, f"h{n}", f"{FRUIT[n % 5]} {n}.") for n in range(150))
        }
        await store.aupsert(list(given.values()))
        found = [point async for page in store.apoints() for point in page]
        assert sorted(document.chunk_id for document in found) == sorted(given)
        for document in found:
            known = given[document.chunk_id]
            assert document.text == known.text
            assert {name: value for name, value in known.metadata.items() if value is not None} == {
                name: value for name, value in document.metadata.items() if value is not None
            }
            np.testing.assert_allclose(document.dense, known.dense, atol=1e-6)
            if len(document.sentences):
                np.testing.assert_allclose(document.sentences, known.sentences, atol=4e-3)


class RemoteStoreKit(VectorStoreKit):
    """For every store behind a wire."""

    async def test_a_missing_collection_is_reported_and_not_as_an_empty_one(self, store: Any) -> None:
        """Neither a search nor a probe takes it for "no chunks"."""
        vector = np.full(SIZE, SIZE**-0.5, np.float32)
        with pytest.raises(CollectionMissing):
            await store.ahybrid([HybridQuery(vector, ())], 2)
        with pytest.raises(CollectionMissing):
            await store.aprobe()
        await store.aadd_documents(documents())
        await store.aprobe()
        assert (await store.ahybrid([HybridQuery(vector, ())], 2)).candidates[0]

    async def test_an_empty_collection_is_no_error(self, store: Any) -> None:
        """A search there brings nothing."""
        await store.aadd_documents(documents())
        await store.adelete()
        vector = np.full(SIZE, SIZE**-0.5, np.float32)
        assert (await store.ahybrid([HybridQuery(vector, ())], 2)).candidates == [[]]

    def test_plain_calls_do_the_same(self, store: Any) -> None:
        """For code that blocks."""
        given = documents()
        assert store.add_documents(given) == [document.id for document in given]
        assert store.get_by_ids(["f3"]) == [given[3]]
        assert store.similarity_search(given[2].page_content, k=1) == [given[2]]
        assert store.delete(["f2"]) is True
        assert store.get_by_ids(["f2"]) == []
