"""Hybrid search in the embedded engine: the best of both channels, and no more of them decoded than need be."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import qdrant_edge as edge

from app.providers.bm25 import K1, dimension, document_weights
from app.providers.edge_chunks import EdgeChunks
from app.providers.edge_search import WEIGHED
from app.providers.edge_shard import Shard
from app.providers.hybrid import Candidate, HybridQuery
from app.providers.layout import DENSE, SENTENCES, SPARSE, Point, point_id
from graph.terms import stem

SIZE, COUNT, LIMIT = 24, 150, 5
WORDS = "kiln ferry orchard archive turbine crane".split()


def point(number: int) -> Point:
    """A chunk of two or three of the words; no two are of one length, so no two have one score."""
    chance = np.random.default_rng(number)
    rows = chance.normal(size=(2, SIZE)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    text = " ".join([*chance.choice(WORDS, 3), *(f"filler{n}" for n in range(number))])
    metadata = {"chunk_id": f"c{number}", "document_id": "d", "spans": [[0, len(text)]], "source": f"s{number % 2}"}
    return Point(f"c{number}", text, metadata, rows[0], rows[1:])


POINTS = {f"c{number}": point(number) for number in range(COUNT)}


def asked(number: int, *words: str) -> HybridQuery:
    chance = np.random.default_rng(1000 + number)
    vector = chance.normal(size=SIZE).astype(np.float32)
    return HybridQuery(vector / np.linalg.norm(vector), tuple(dimension(stem(word)) for word in words))


QUERIES = [asked(1, "kiln", "crane"), asked(2, "ferry"), asked(3, "turbine", "archive", "nowhere"), asked(4)]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EdgeChunks]:
    """The points."""
    made = EdgeChunks(tmp_path, "garden", SIZE)
    await made.aupsert(list(POINTS.values()))
    yield made
    await made.aclose()


def scores(query: HybridQuery, idf: dict[int, float], points: dict[str, Point]) -> tuple[dict[str, float], ...]:
    """Cosine, and BM25 over the highest there could be, of every point by chunk id; by hand."""
    highest = (K1 + 1.0) * sum(idf[term] for term in query.terms) or 1.0
    weights = {name: document_weights(one.text) for name, one in points.items()}
    words = {name: sum(own.get(t, 0.0) * idf[t] for t in query.terms) / highest for name, own in weights.items()}
    return {name: float(one.dense @ query.dense) for name, one in points.items()}, words


def best_of(channel: dict[str, float]) -> set[str]:
    return set(sorted((name for name, score in channel.items() if score), key=lambda name: -channel[name])[:LIMIT])


def found(row: list[Candidate]) -> set[str]:
    return {candidate.chunk.chunk_id for candidate in row}


@pytest.mark.parametrize("where", [None, {"source": "s1"}])
async def test_the_best_of_both_channels_are_found_at_first_and_ever_after(
    store: EdgeChunks, where: dict[str, str] | None
) -> None:
    """The first time the best alone come, later all that either channel found; the best are those of an exact count."""
    inside = {name: one for name, one in POINTS.items() if where is None or one.metadata["source"] == "s1"}
    for time in range(3):
        hits = await store.ahybrid(QUERIES, LIMIT, where)
        for query, row in zip(QUERIES, hits.candidates, strict=True):
            cosines, words = scores(query, hits.idf, inside)
            union = best_of(cosines) | best_of(words)
            best = set(sorted(union, key=lambda name: -cosines[name] - words[name])[:LIMIT])
            assert found(row) == (union if time else best)


async def test_what_was_found_comes_with_its_sentences(store: EdgeChunks) -> None:
    """The sentences of what is decoded are decoded with it, and are those that were stored."""
    hits = await store.ahybrid(QUERIES[:1], LIMIT)
    sentences = await store.asentences(hits.candidates[0])
    for candidate in hits.candidates[0]:
        stored = POINTS[candidate.chunk.chunk_id].sentences
        assert np.allclose(sentences[candidate.key], stored, atol=4e-3)  # kept as int8


async def test_a_collection_without_words_is_searched_by_vectors(tmp_path: Path) -> None:
    """One that was made without a sparse channel answers questions with words all the same."""
    path = tmp_path / "garden" / "shard-1"
    path.mkdir(parents=True)
    dense = edge.EdgeVectorParams(size=SIZE, distance=edge.Distance.Cosine)
    edge.EdgeShard.create(str(path), edge.EdgeConfig(vectors={DENSE: dense})).close()
    (path.parent / "current").write_text(path.name, encoding="utf-8")
    store = EdgeChunks(tmp_path, "garden", SIZE)
    await store.aupsert(list(POINTS.values()))
    for _ in range(2):
        hits = await store.ahybrid(QUERIES, LIMIT)
        assert hits.idf == {}
        for query, row in zip(QUERIES, hits.candidates, strict=True):
            assert found(row) == best_of({name: float(one.dense @ query.dense) for name, one in POINTS.items()})
    await store.aclose()


@pytest.mark.parametrize("with_sentences", [True, False])
async def test_a_collection_made_before_vectors_were_packed_is_read(tmp_path: Path, with_sentences: bool) -> None:
    """Vectors come from where they are, a multivector the sentences'; a chunk that is written anew has its own."""
    path = tmp_path / "garden" / "shard-1"
    path.mkdir(parents=True)
    dense = edge.EdgeVectorParams(size=SIZE, distance=edge.Distance.Cosine)
    several = edge.MultiVectorConfig(edge.MultiVectorComparator.MaxSim)
    rows = edge.EdgeVectorParams(size=SIZE, distance=edge.Distance.Cosine, multivector_config=several)
    words = {SPARSE: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf)}
    config = edge.EdgeConfig({DENSE: dense} | ({SENTENCES: rows} if with_sentences else {}), words)
    shard = edge.EdgeShard.create(str(path), config)
    for name, one in POINTS.items():
        weights = document_weights(one.text)
        vector = {DENSE: one.dense.tolist(), SPARSE: edge.SparseVector(list(weights), list(weights.values()))}
        vector |= {SENTENCES: one.sentences.tolist()} if with_sentences else {}
        payload = {"page_content": one.text, "metadata": one.metadata}
        shard.update(edge.UpdateOperation.upsert_points([edge.Point(point_id(name), vector, payload)]))
    shard.close()
    (path.parent / "current").write_text(path.name, encoding="utf-8")
    store = EdgeChunks(tmp_path, "garden", SIZE)
    before, after = POINTS["c7"], replace(POINTS["c7"], sentences=POINTS["c8"].sentences)
    query = HybridQuery(before.dense, tuple(document_weights(before.text)))
    for stored, count, tolerance in ((before, int(with_sentences), 1e-6), (after, 1, 4e-3)):
        (candidates,) = (await store.ahybrid([query], LIMIT)).candidates
        best = max(candidates, key=lambda one: float(one.dense @ before.dense))
        assert (best.chunk.chunk_id, best.chunk.text) == ("c7", before.text)
        assert best.sparse == pytest.approx(document_weights(before.text), rel=1e-5)
        assert best.dense is not None
        assert best.sentences is not None
        assert np.allclose(best.dense, stored.dense, atol=tolerance)
        assert np.allclose(best.sentences, stored.sentences[:count], atol=tolerance)
        kept = {one.chunk_id: one async for page in store.apoints() for one in page}
        assert np.allclose(kept["c7"].sentences, stored.sentences[:count], atol=tolerance)
        await store.aupsert([after])
    await store.aclose()


@pytest.mark.parametrize("where", [None, {"source": "s1"}, {"source": "nowhere"}])
async def test_the_weight_of_a_word_is_that_of_the_whole_collection(
    store: EdgeChunks, where: dict[str, str] | None
) -> None:
    """Of words that a hit has, that only others have, and that are nowhere; whatever the filter; by the formula."""
    words = ["kiln", "ferry", "filler148", "crane", "nowhere"]
    hits = await store.ahybrid([asked(1, *words)], 1, where)
    assert len(hits.candidates[0]) == (0 if where == {"source": "nowhere"} else 1)
    for word in words:
        term = dimension(stem(word))
        n = sum(term in document_weights(one.text) for one in POINTS.values())
        assert hits.idf[term] == pytest.approx(math.log(1 + (COUNT - n + 0.5) / (n + 0.5)), rel=1e-5)


async def test_points_are_scored_where_they_are(store: EdgeChunks) -> None:
    """Given ids are scored by a vector and by words as a search would; an id that is not there has no score."""
    query, names = QUERIES[0], ["c3", "c70", "c149"]
    idf = (await store.ahybrid([query], 1)).idf
    cosines, words = scores(query, idf, POINTS)
    highest = (K1 + 1.0) * sum(idf.values())

    def job(shard: Shard) -> list[dict[str, float]]:
        ids = [record.id for record in shard.fetch([point_id(name) for name in names], payload=False)]
        found = shard.scores([(query.dense, ids), (query.terms, ids), (query.dense, []), ((), ids)])
        return [{str(key): score for key, score in one.items()} for one in found]

    by_vector, by_words, *nothing = await store.engine.aread(job, [])
    assert by_vector == pytest.approx({point_id(name): cosines[name] for name in names}, abs=1e-5)
    assert by_words == pytest.approx({point_id(n): words[n] * highest for n in names if words[n]}, abs=1e-4)
    assert nothing == [{}, {}]


async def test_a_point_written_anew_is_decoded_anew(store: EdgeChunks) -> None:
    """What is remembered of a point is forgotten with the write that changes it."""
    first = await store.ahybrid([HybridQuery(POINTS["c7"].dense, ())], 1)
    assert first.candidates[0][0].chunk.text == POINTS["c7"].text
    changed = Point(
        "c7", "Said anew.", POINTS["c7"].metadata | {"spans": [[0, 10]]}, POINTS["c7"].dense, POINTS["c8"].sentences
    )
    await store.aupsert([changed])
    second = await store.ahybrid([HybridQuery(POINTS["c7"].dense, ())], 1)
    (candidate,) = second.candidates[0]
    assert candidate.chunk.text == "Said anew."
    sentences = await store.asentences([candidate])
    assert np.allclose(sentences[candidate.key], POINTS["c8"].sentences, atol=4e-3)


async def test_words_that_askers_make_up_fill_no_memory(store: EdgeChunks) -> None:
    """Past a number all weights are forgotten, and read anew when they are asked for."""
    for number in range(3):
        made_up = [f"word{number}x{n}" for n in range(WEIGHED // 2 + 100)]
        hits = await store.ahybrid([asked(number, "kiln", *made_up)], LIMIT)
        assert hits.idf is not None
        assert len(store._search._idf) <= 2 * WEIGHED
    n = sum(dimension(stem("kiln")) in document_weights(one.text) for one in POINTS.values())
    assert hits.idf[dimension(stem("kiln"))] == pytest.approx(math.log(1 + (COUNT - n + 0.5) / (n + 0.5)), rel=1e-5)
    assert len(store._search._idf) < WEIGHED
