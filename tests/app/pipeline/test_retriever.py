"""Hybrid retrieval: both channels measured on every candidate, against plain references, with the real weights."""

from __future__ import annotations

import asyncio
import math
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from langchain_core.documents import Document
from langchain_core.embeddings import Embeddings

from answering.text.sentences import sentence_spans
from answering.text.terms import question_stems, stems
from answering.types import Chunk, Question, SubqueryResults
from app.pipeline.retriever import MAX_SENTENCES, POOL, HybridRetriever
from app.providers.embeddings.minilm import MiniLMEmbeddings
from app.providers.stores.embedded import EmbeddedStore
from app.providers.stores.hybrid import AVERAGE_STEMS, K1, B, Candidate, HybridHits, HybridQuery
from app.providers.stores.layout import indexed_text
from graph.errors import CollectionMissing, EmbeddingUnavailable, StoreUnavailable, UnknownSource
from tests.support.vectors import document_vectors, question_vector

GARDEN = {
    "acid": ("Safety manual", "Acids are stored below eye level. Wear gloves and a face shield when you pour them."),
    "fire": ("Safety manual", "Fire doors stay closed. The assembly point is the car park behind building B."),
    "leave": ("HR policy", "Employees have 28 days of annual leave. Requests go to the manager two weeks ahead."),
    "leave2": ("HR policy", "Employees have 28 days of annual leave. Requests go to the manager two weeks before."),
    "sick": ("HR policy", "A sick note is needed from the fourth day. Call before nine in the morning."),
    "node": ("ROS 2 primer", "A node is a process that computes. Nodes talk over topics, services and actions."),
    "topic": (
        "ROS 2 primer",
        "A topic is a named bus for messages. Publishers and subscribers need not know each other.",
    ),
    "tomato": ("Kitchen garden", "Tomatoes need six hours of sun. Water them at the root, never on the leaves."),
    "bean": ("Kitchen garden", "Beans climb poles. Sow them after the last frost, two centimetres deep."),
    "port": ("Deployment guide", "The service listens on port 8000. PORT moves it elsewhere."),
    "key": ("Deployment guide", "API keys are read from API_KEYS. An empty list leaves every door open."),
    "rest": ("", "Nothing else is written here."),
}


@pytest.fixture
async def store(tmp_path: Path, embeddings: MiniLMEmbeddings) -> AsyncIterator[EmbeddedStore]:
    """The documents above, one chunk each."""
    made = EmbeddedStore(embeddings, tmp_path, "garden", embeddings.dimension)
    await made.aadd_documents(
        [
            Document(
                id=name, page_content=text, metadata={"title": title, "document_id": title, "source": f"{title}.md"}
            )
            for name, (title, text) in GARDEN.items()
        ]
    )
    yield made
    await made.aclose()


def asked(*parts: str, source: str | None = None, seconds: float = 60, max_sources: int = 10) -> Question:
    """A question as the graph hands it on."""
    now = time.monotonic()
    return Question(
        " ".join(parts), parts, max_sources, None, {"source": source} if source else None, now, now + seconds
    )


def ids(retrieved: Sequence[SubqueryResults], part: int = 0) -> list[str]:
    """The chunk ids of a reading, best first."""
    return [chunk.chunk_id for chunk in retrieved[part].chunks]


def reference_idf(stem: str) -> float:
    """BM25's idf over the documents above, counted by hand."""
    held = sum(stem in stems(indexed_text({"title": title}, text)) for title, text in GARDEN.values())
    return math.log(1 + (len(GARDEN) - held + 0.5) / (held + 0.5))


def reference_bm25(question: str, name: str) -> float:
    """BM25 of a chunk, from the formula."""
    title, text = GARDEN[name]
    counts = Counter(stems(indexed_text({"title": title}, text)))
    length = 1 - B + B * counts.total() / AVERAGE_STEMS
    return sum(
        reference_idf(stem) * counts[stem] * (K1 + 1) / (counts[stem] + K1 * length)
        for stem in question_stems(question)
    )


@pytest.mark.parametrize(
    ("question", "best"),
    [
        ("How many days of annual leave do employees have?", "leave"),
        ("Where do people gather when there is a fire?", "fire"),
        ("On which port does the service listen?", "port"),
        ("What protection is needed to pour acids?", "acid"),
        ("how much light does a tomato want", "tomato"),
    ],
)
async def test_the_chunk_that_answers_comes_first(
    store: EmbeddedStore, embeddings: MiniLMEmbeddings, question: str, best: str
) -> None:
    """The chunk that answers is ranked first."""
    retrieved = await HybridRetriever(store, embeddings).retrieve(asked(question))
    assert ids(retrieved)[0].removesuffix("2") == best, "of near duplicates either may be first"
    assert len(ids(retrieved)) == POOL
    assert retrieved[0].question == question


async def test_what_is_said_around_a_question_is_read_where_it_leads_nearer(
    store: EmbeddedStore, embeddings: MiniLMEmbeddings
) -> None:
    """A greeting is not read; a background without which the question finds less is, as one text with it."""
    retriever = HybridRetriever(store, embeddings)
    for around, alone, read in (
        ("Hello all, hope you are well.", "On which port does the service listen?", False),
        ("My tomatoes get six hours of sun.", "How should I go about it?", True),
    ):
        text = f"{around} {alone}"
        whole = replace(asked(alone), text=text, background=True)
        (results,) = await retriever.retrieve(whole)
        assert results.chunks == (await retriever.retrieve(asked(text if read else alone)))[0].chunks
        assert results.question == (text if read else alone)


async def test_every_number_agrees_with_a_plain_reference(store: EmbeddedStore, embeddings: MiniLMEmbeddings) -> None:
    """Cosines with numpy, BM25 and idf with the formula, vectors to the precision they are kept in."""
    question = "How many days of annual leave before a manager says no to frobnication?"
    retrieved = await HybridRetriever(store, embeddings, pool=12).retrieve(asked(question))
    vector = question_vector(embeddings, question)
    highest = (K1 + 1) * sum(reference_idf(stem) for stem in question_stems(question))
    chunks = retrieved[0].chunks
    assert {chunk.chunk_id for chunk in chunks} == set(GARDEN)
    for chunk in chunks:
        title, text = GARDEN[chunk.chunk_id]
        (row,) = document_vectors(embeddings, [indexed_text({"title": title}, text)])
        assert chunk.similarity == pytest.approx(float(row @ vector), abs=1e-4)
        assert chunk.keyword == pytest.approx(reference_bm25(question, chunk.chunk_id) / highest, abs=1e-4)
        assert chunk.spans == sentence_spans(text)
        rows = document_vectors(embeddings, [text[start:end] for start, end in chunk.spans])
        assert chunk.span_similarities == pytest.approx(list(rows @ vector), abs=3e-3)
        assert all(type(number) is float for number in (chunk.similarity, chunk.keyword, *chunk.span_similarities))
    scores = [chunk.similarity + 0.5 * max(chunk.span_similarities) + 0.3 * chunk.keyword for chunk in chunks]
    assert scores == sorted(scores, reverse=True)


async def test_chunks_that_say_the_same_name_each_other_as_near_duplicates(
    store: EmbeddedStore, embeddings: MiniLMEmbeddings
) -> None:
    """Chunks with nearly the same text are marked as near duplicates."""
    retrieved = await HybridRetriever(store, embeddings).retrieve(asked("annual leave"))
    near_duplicates = {chunk.chunk_id: chunk.near_duplicates for chunk in retrieved[0].chunks}
    assert near_duplicates["leave"] == ("leave2",)
    assert near_duplicates["leave2"] == ("leave",)
    assert not any(near_duplicates[name] for name in near_duplicates if not name.startswith("leave"))


async def test_each_part_of_a_compound_question_is_a_reading_of_its_own(
    store: EmbeddedStore, embeddings: MiniLMEmbeddings
) -> None:
    """Each part of a compound question has its own results."""
    parts = ("How deep are beans sown?", "What is a topic?")
    retriever = HybridRetriever(store, embeddings)
    together = await retriever.retrieve(asked(*parts))
    assert [ids(together, at)[0] for at in (0, 1)] == ["bean", "topic"]
    for at, part in enumerate(parts):
        alone = await retriever.retrieve(asked(part))
        assert ids(alone) == ids(together, at)


async def test_a_misspelled_word_is_searched_as_the_chunks_spell_it(
    store: EmbeddedStore, embeddings: MiniLMEmbeddings
) -> None:
    """With a slip of the keyboard the same is found as without it."""
    retriever = HybridRetriever(store, embeddings)
    slipped = await retriever.retrieve(asked("anual leave"))
    assert slipped == await retriever.retrieve(asked("annual leave"))


async def test_a_source_restricts_the_search(store: EmbeddedStore, embeddings: MiniLMEmbeddings) -> None:
    """With a source, only its chunks are found; one that no document has is an error, not an empty result."""
    retriever = HybridRetriever(store, embeddings)
    limited = await retriever.retrieve(asked("annual leave", source="HR policy.md"))
    assert set(ids(limited)) == {"leave", "leave2", "sick"}
    with pytest.raises(UnknownSource, match=re.escape("'nobody.md'")):
        await retriever.retrieve(asked("annual leave", source="nobody.md"))


async def test_an_empty_collection_is_a_reading_without_chunks(tmp_path: Path, embeddings: MiniLMEmbeddings) -> None:
    """An empty collection gives results without chunks."""
    empty = EmbeddedStore(embeddings, tmp_path, "empty", embeddings.dimension)
    assert ids(await HybridRetriever(empty, embeddings).retrieve(asked("annual leave"))) == []
    await empty.aadd_documents([Document(id="x", page_content="x")])
    await empty.adelete()
    assert ids(await HybridRetriever(empty, embeddings).retrieve(asked("annual leave"))) == []
    await empty.aclose()


async def test_what_changes_in_the_store_changes_the_next_answer(
    store: EmbeddedStore, embeddings: MiniLMEmbeddings
) -> None:
    """A change in the store shows in the next results."""
    retriever = HybridRetriever(store, embeddings)
    question = asked("Which wine goes with quince?")
    assert "sick" not in ids(await retriever.retrieve(question))[:1]
    await store.aadd_texts(["Quince goes with a sweet white wine."], [{"title": "HR policy"}], ids=["sick"])
    after = await retriever.retrieve(question)
    assert ids(after)[0] == "sick"
    assert after[0].chunks[0].text == "Quince goes with a sweet white wine."
    await store.adelete(["sick"])
    assert "sick" not in ids(await retriever.retrieve(question))


async def test_32_clients_ask_while_documents_are_added(store: EmbeddedStore, embeddings: MiniLMEmbeddings) -> None:
    """32 clients get right results while documents are added."""
    retriever = HybridRetriever(store, embeddings)

    async def client(number: int) -> None:
        if number % 4 == 0:
            await store.aadd_texts([f"Shed {number} holds rakes."], ids=[f"shed{number}"])
            assert f"shed{number}" in ids(await retriever.retrieve(asked(f"What is in shed {number}?")))
        else:
            assert ids(await retriever.retrieve(asked("How deep are beans sown?")))[0] == "bean"

    await asyncio.gather(*(client(number) for number in range(32)))


class AtHand(Embeddings):
    """The vector of one question, at hand: no thread decides when each goes on."""

    def __init__(self, embeddings: MiniLMEmbeddings, text: str) -> None:
        self._vector = embeddings.embed_query(text)

    def embed_query(self, text: str) -> list[float]:
        return self._vector

    async def aembed_query(self, text: str) -> list[float]:
        return self._vector

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        raise NotImplementedError


async def test_a_deadline_missed_in_the_search_is_no_fault_of_the_embedding(
    store: EmbeddedStore, embeddings: MiniLMEmbeddings
) -> None:
    """A search that waits for others past its deadline raises a timeout error."""

    class Busy:
        async def ahybrid(self, *query: Any) -> HybridHits:
            time.sleep(0.02)  # noqa: ASYNC251  # a search keeps the processor busy, and the loop with it
            return await store.ahybrid(*query)

    text = "On which port does the service listen?"
    retriever = HybridRetriever(Busy(), AtHand(embeddings, text))
    asking = [retriever.retrieve(asked(text, seconds=0.04)) for _ in range(16)]
    late = [
        reply for reply in await asyncio.gather(*asking, return_exceptions=True) if isinstance(reply, BaseException)
    ]
    assert late
    assert {type(error) for error in late} == {StoreUnavailable}


class Foreign:
    """A store of another pipeline: no sparse and no sentence vectors, spans unknown, perhaps no vectors at all."""

    def __init__(self, embeddings: MiniLMEmbeddings, vectors: bool, texts: Mapping[str, str]) -> None:
        self._rows = document_vectors(embeddings, list(texts.values()))
        self._texts = texts
        self._vectors = vectors
        self.fails: Callable[[], Any] | None = None

    async def ahybrid(
        self, queries: Sequence[HybridQuery], limit: int, where: Mapping[str, Any] | None = None
    ) -> HybridHits:
        if self.fails:
            await self.fails()
        return HybridHits([[self._candidate(name, query) for name in self._texts] for query in queries])

    def _candidate(self, name: str, query: HybridQuery) -> Candidate:
        row = self._rows[list(self._texts).index(name)]
        cosine = 0.0 if self._vectors else float(row @ query.dense)
        chunk = Chunk(name, name, "", self._texts[name], similarity=cosine)
        return Candidate(name, chunk, row if self._vectors else None)


@pytest.mark.parametrize("vectors", [True, False])
async def test_a_store_without_sparse_or_sentence_vectors_still_works(
    embeddings: MiniLMEmbeddings, monkeypatch: pytest.MonkeyPatch, vectors: bool
) -> None:
    """A store without sparse or sentence vectors is still searched."""
    foreign = Foreign(embeddings, vectors, {name: text for name, (_, text) in GARDEN.items()})
    retriever = HybridRetriever(foreign, embeddings)
    retrieved = await retriever.retrieve(asked("How deep are beans sown?"))
    best = retrieved[0].chunks[0]
    assert (best.chunk_id, best.keyword) == ("bean", 0.0)
    vector = question_vector(embeddings, "How deep are beans sown?")
    assert best.similarity == pytest.approx(float(document_vectors(embeddings, [best.text])[0] @ vector), abs=1e-5)
    assert best.spans == sentence_spans(best.text)
    assert best.span_similarities == pytest.approx(
        list(document_vectors(embeddings, best.sentences) @ vector), abs=1e-5
    )
    monkeypatch.setattr(embeddings, "aembed_documents", None)
    again = await retriever.retrieve(asked("How deep are beans sown?"))
    assert again[0].chunks == retrieved[0].chunks, "what was embedded once is not embedded again"


async def test_vectors_of_nothing_hide_no_near_duplicates(embeddings: MiniLMEmbeddings) -> None:
    """Chunks whose vectors another pipeline left at zero are near nothing, themselves included; the others stay so."""
    foreign = Foreign(embeddings, True, {"one": "Beans.", "two": "Beans.", "none": "Rye.", "nothing": "Oats."})
    foreign._rows[2:] = 0.0
    retrieved = await HybridRetriever(foreign, embeddings).retrieve(asked("beans"))
    near_duplicates = {chunk.chunk_id: chunk.near_duplicates for chunk in retrieved[0].chunks}
    assert near_duplicates == {"one": ("two",), "two": ("one",), "none": (), "nothing": ()}


async def test_chunks_that_say_the_same_do_not_fill_the_list(embeddings: MiniLMEmbeddings) -> None:
    """Of twenty logs alike three are candidates, and so is the manual that is farther from the question."""
    logs = {f"log {n}": "The chiller in hall 2 was inspected." for n in range(20)}
    foreign = Foreign(embeddings, True, {**logs, "manual": "Pumps and chillers are looked at every 90 days."})
    (found,) = await HybridRetriever(foreign, embeddings).retrieve(asked("How often is the chiller inspected?"))
    ids = [chunk.chunk_id for chunk in found.chunks]
    assert len(ids) == 4
    assert ids[-1] == "manual"


async def test_sentences_embedded_for_one_question_are_bounded(embeddings: MiniLMEmbeddings) -> None:
    """The number of sentences embedded for one question is bounded."""
    texts = {f"long{n}": " ".join(f"Line {n} {m}." for m in range(MAX_SENTENCES // 2 + 1)) for n in range(2)}
    (results,) = await HybridRetriever(Foreign(embeddings, True, texts), embeddings).retrieve(asked("line"))
    chunks = results.chunks
    for chunk in chunks:
        assert len(chunk.spans) == len(chunk.span_similarities) == MAX_SENTENCES // 2 + 1
    assert [len(set(chunk.span_similarities)) == 1 for chunk in chunks].count(True) == 1


async def test_outages_are_raised_and_what_is_late_counts_as_one(embeddings: MiniLMEmbeddings) -> None:
    """An outage raises its error, and a timeout counts as an outage."""
    foreign = Foreign(embeddings, True, {"one": "One."})
    retriever = HybridRetriever(foreign, embeddings)

    async def missing() -> None:
        raise CollectionMissing("There is no such collection.")

    foreign.fails = missing
    with pytest.raises(CollectionMissing):
        await retriever.retrieve(asked("one"))
    foreign.fails = lambda: asyncio.sleep(30)
    with pytest.raises(StoreUnavailable, match="in time"):
        await retriever.retrieve(asked("one", seconds=0.5))
    with pytest.raises(EmbeddingUnavailable, match="in time"):
        await retriever.retrieve(asked("a question that was not asked before", seconds=-1))
