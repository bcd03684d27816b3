"""Question and chunk pairs with their features and what is known of them: what relevance is fitted on."""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.ports import PassageReader, Retriever
from graph.relevance.english import english_idf
from graph.relevance.features import FEATURE_NAMES, measure
from graph.relevance.reading import read_best
from graph.state import Chunk, Question
from graph.terms import words

FOLDS = 5
OFF_TOPIC = "off_topic"
"""Kind of a question that no document is about; so is an unanswerable one that says no kind and names no document."""
LEAST_HELD = 0.9
"""A chunk holds a gold sentence when it has so much of its words."""


@dataclass(frozen=True, slots=True)
class Samples:
    """Pairs of question and candidate; the arrays [pairs] say which question, and whether the chunk is right for it.

    ``topical``: it is of the document that the question's author read, whether or not it answers; ``known`` says
    whether that is known, as it is not where the answer is absent. ``answers``: it is what the author read, and it
    answers.
    """

    features: NDArray[np.float64]  # [pairs, len(FEATURE_NAMES)]
    question: NDArray[np.int64]
    topical: NDArray[np.float64]
    answers: NDArray[np.float64]
    fold: NDArray[np.int64]  # [questions]
    answerable: NDArray[np.bool_]  # [questions]
    source: NDArray[np.int64]  # [questions], which question file
    read: NDArray[np.bool_]  # [pairs]
    known: NDArray[np.bool_]  # [pairs]
    judged: NDArray[np.bool_]  # [pairs], whether ``answers`` is known

    def columns(self, names: Sequence[str]) -> NDArray[np.float64]:
        """The features *names*, [pairs, len(names)]."""
        return self.features[:, [FEATURE_NAMES.index(name) for name in names]]

    def rows(self, kept: NDArray[np.bool_]) -> Samples:
        """The pairs that *kept* [pairs] marks, of the same questions."""
        return replace(
            self,
            features=self.features[kept],
            question=self.question[kept],
            topical=self.topical[kept],
            answers=self.answers[kept],
            read=self.read[kept],
            known=self.known[kept],
            judged=self.judged[kept],
        )


def joined(*several: Samples) -> Samples:
    """The questions of all, in order."""
    starts = np.cumsum([0, *(len(one.fold) for one in several[:-1])])
    columns = {field.name: np.concatenate([getattr(one, field.name) for one in several]) for field in fields(Samples)}
    owners = [one.question + start for one, start in zip(several, starts, strict=True)]
    return Samples(**{**columns, "question": np.concatenate(owners)})


async def collect(
    retriever: Retriever,
    questions: Sequence[Mapping[str, Any]],
    reader: PassageReader,
    told: Callable[[int], None] = lambda _: None,
) -> Samples:
    """Retrieve for every row of *questions*, read the nearest chunks, and measure what came.

    A row has ``question, answerable``, perhaps ``kind``, and one of ``gold_chunk``, ``gold_chunks`` and ``gold``, a
    list of ``{file, sentence}``; perhaps ``source``, the number of its file, and ``group``, what shares a fold. *told*
    hears how many are done. Raises `KeyError` when a row lacks a field, and what the retriever raises.
    """
    features, owner, topical, answers, was_read, known = [], [], [], [], [], []
    for number, row in enumerate(questions):
        now = time.monotonic()
        retrieved = await retriever.retrieve(
            Question(row["question"], (row["question"],), 1, None, None, started=now, deadline=now + 3600.0)
        )
        (reading,) = await read_best(reader, retrieved.subquery_results)
        documents = gold_documents(row, reading.chunks)
        for chunk, _, measured in measure(reading, english_idf):
            features.append(list(measured))
            owner.append(number)
            topical.append(bool(chunk.document_id in documents or is_gold(chunk, row)))
            answers.append(bool(row["answerable"] and is_gold(chunk, row)))
            was_read.append(chunk.read is not None)
            known.append(bool(row.get("gold") or row.get("gold_document")) or row.get("kind", OFF_TOPIC) == OFF_TOPIC)
        told(number + 1)
    return Samples(
        features=np.array(features, dtype=np.float64).reshape(-1, len(FEATURE_NAMES)),
        question=np.array(owner, dtype=np.int64),
        topical=np.array(topical, dtype=np.float64),
        answers=np.array(answers, dtype=np.float64),
        fold=np.array([fold_of(row, number) for number, row in enumerate(questions)], dtype=np.int64),
        answerable=np.array([row["answerable"] for row in questions], dtype=np.bool_),
        source=np.array([row.get("source", 0) for row in questions], dtype=np.int64),
        read=np.array(was_read, dtype=np.bool_),
        known=np.array(known, dtype=np.bool_),
        judged=np.ones(len(known), dtype=np.bool_),
    )


def gold_documents(row: Mapping[str, Any], chunks: Sequence[Chunk]) -> set[str]:
    """The ids of the documents that the author of the question *row* read, as far as *chunks* are of them."""
    named = [one["file"] for one in row.get("gold", ())] or [row.get("gold_document")]
    return {chunk.document_id for chunk in chunks for name in named if name and _is_file(chunk, name)}


def is_gold(chunk: Chunk, row: Mapping[str, Any]) -> bool:
    """Whether *chunk* is what the author of the question *row* read."""
    if "gold" not in row:
        return chunk.chunk_id in (row["gold_chunks"] if "gold_chunks" in row else [str(row["gold_chunk"])])
    return any(_is_file(chunk, one["file"]) and _holds(chunk.text, one["sentence"]) for one in row["gold"])


def _is_file(chunk: Chunk, name: str) -> bool:
    return f"/{chunk.document_id}".endswith(f"/{name}")


def _holds(text: str, sentence: str) -> bool:
    """Whether nearly all words of *sentence* are in *text*: white space and markup may differ."""
    wanted, held = Counter(words(sentence)), Counter(words(text))
    return bool(wanted) and (wanted & held).total() >= LEAST_HELD * wanted.total()


def fold_of(row: Mapping[str, Any], number: int) -> int:
    """Questions on one document share a fold, and so do neighbours without one: they come from one article."""
    group = row.get("group") or row.get("corpus") or row.get("gold_document")
    group = group or f"without document, {row.get('source', 0)}, {number // 10}"
    return zlib.crc32(group.encode()) % FOLDS
