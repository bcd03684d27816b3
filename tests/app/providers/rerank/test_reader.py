"""The shipped reader, with its real weights."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from answering.relevance.features import read_best
from answering.types import Chunk, Passage, SubqueryResults
from app.providers.rerank.reader import SUPPORT_WEIGHTS, WEIGHTS, OnnxReader
from graph.errors import ConfigurationError

LEAVE = Passage(
    "Leave > Annual leave",
    (
        "You may use annual leave for any reason.",
        "You can carry over a maximum of 240 annual leave hours, from one leave year to the next.",
        "The team calendar shows who is away.",
    ),
)


@pytest.fixture(scope="module")
def reader() -> OnnxReader:
    return OnnxReader()


async def test_the_sentence_that_answers_is_found(reader: OnnxReader) -> None:
    """The reader picks the sentence that answers, and answers more surely than where no sentence does."""
    found = await reader.read("How many hours can I carry over?", LEAVE)
    missed = await reader.read("Who designed the bridge in Lyon?", LEAVE)
    chances = found.probabilities
    assert chances.index(max(chances)) == 1
    assert found.answerable > missed.answerable
    assert max(found.sentences) - found.null > max(missed.sentences) - missed.null


async def test_a_passage_is_read_alone(reader: OnnxReader) -> None:
    """What is found in a passage does not depend on the passages that are read at the same time."""
    other = Passage("Bread", ("Bread needs flour, water, salt and time.",) * 9)
    fresh = OnnxReader()
    found = await asyncio.gather(*(fresh.read("What is needed?", passage) for passage in (other, LEAVE, other)))
    assert found[1] == await reader.read("What is needed?", LEAVE)
    fresh.close()


@pytest.mark.parametrize("sentences", [(), ("",), ("\ud800",), ("word " * 5000, "And a last one.")])
async def test_strange_passages_are_read(reader: OnnxReader, sentences: tuple[str, ...]) -> None:
    """No sentence, a blank one, half a surrogate pair and one that is too long each have a score."""
    read = await reader.read("What?", Passage("", sentences))
    assert len(read.sentences) == len(sentences)
    assert all(0.0 <= probability <= 1.0 for probability in read.probabilities)


async def test_only_near_chunks_are_read(reader: OnnxReader) -> None:
    """Chunks that are near enough are read as long as none answers; the rest stay as they are."""
    bread = Chunk("0", "d", "", "Bread is good.", spans=((0, 14),), span_similarities=(0.5,))
    chunks = tuple(
        replace(bread, chunk_id=str(n), similarity=cosine, span_similarities=(cosine,))
        for n, cosine in enumerate((0.9, 0.65, 0.4, 0.15))
    )
    (results,) = await read_best(reader, [SubqueryResults("Who pays for travel?", chunks)])
    assert [chunk.reading is not None for chunk in results.chunks] == [True, True, True, False]


async def test_reading_stops_at_an_answer(reader: OnnxReader) -> None:
    """The most promising is read first, wherever it stands, then two at once; once one answers, no other is read."""
    texts = "Bread needs flour.", "Employees have 30 days of annual leave.", "Trains leave at noon.", "Cats like milk."

    async def read_of(similarities: Sequence[float]) -> list[bool]:
        chunks = tuple(
            Chunk(str(n), "d", "", text, similarity=near, spans=((0, len(text)),), span_similarities=(near,))
            for n, (text, near) in enumerate(zip(texts, similarities, strict=True))
        )
        (results,) = await read_best(reader, [SubqueryResults("How many days of annual leave are there?", chunks)])
        return [chunk.reading is not None for chunk in results.chunks]

    assert await read_of((0.5, 0.8, 0.7, 0.6)) == [False, True, False, False]
    assert await read_of((0.5, 0.7, 0.8, 0.6)) == [False, True, True, True]


@pytest.mark.parametrize(("kind", "shipped"), [("weights", WEIGHTS), ("support", SUPPORT_WEIGHTS)])
def test_damaged_weights_are_refused(tmp_path: Path, kind: str, shipped: Path) -> None:
    """Weights with other bytes than the shipped ones stop the load with their name."""
    damaged = tmp_path / shipped.name
    damaged.write_bytes(shipped.read_bytes()[:-1] + b"x")
    with pytest.raises(ConfigurationError, match=shipped.name):
        OnnxReader(**{kind: damaged})
