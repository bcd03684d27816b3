"""Question and chunk pairs with their features and what is known of them: what relevance is fitted on."""

from __future__ import annotations

import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graph.ports import Retriever
from graph.relevance.english import english_idf
from graph.relevance.features import FEATURE_NAMES, measure
from graph.sentences import sentence_spans
from graph.state import Chunk, Question

COPY = "~copy"
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Samples:
    """Pairs of question and candidate; the arrays [pairs] say which question, and whether the chunk is right for it.

    ``topical``: it is what the question's author read, whether or not it answers. ``answers``: it does answer.
    """

    features: NDArray[np.float64]  # [pairs, len(FEATURE_NAMES)]
    question: NDArray[np.int64]
    topical: NDArray[np.float64]
    answers: NDArray[np.float64]
    fold: NDArray[np.int64]  # [questions]
    answerable: NDArray[np.bool_]  # [questions]
    source: NDArray[np.int64]  # [questions], which question file

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
        )


async def collect(retriever: Retriever, questions: Sequence[Mapping[str, Any]]) -> Samples:
    """Retrieve for every row of *questions* and measure what came.

    A row has ``question, answerable, gold_chunk, gold_document, answers``, perhaps ``gold_sentences``, and ``source``,
    the number of its file. Raises `KeyError` when one lacks a field, and what the retriever raises.
    """
    features, owner, topical, answers = [], [], [], []
    for number, row in enumerate(questions):
        now = time.monotonic()
        retrieved = await retriever.retrieve(
            Question(row["question"], (row["question"],), 1, None, None, started=now, deadline=now + 3600.0)
        )
        for chunk, _, measured in measure(retrieved.readings[0], english_idf):
            features.append(list(measured))
            owner.append(number)
            on_topic = chunk.chunk_id.removesuffix(COPY) == row["gold_chunk"]
            topical.append(on_topic)
            answers.append(on_topic and row["answerable"] and _still_answers(chunk, row))
    return Samples(
        features=np.array(features, dtype=np.float64).reshape(-1, len(FEATURE_NAMES)),
        question=np.array(owner, dtype=np.int64),
        topical=np.array(topical, dtype=np.float64),
        answers=np.array(answers, dtype=np.float64),
        fold=np.array([fold_of(row, number) for number, row in enumerate(questions)], dtype=np.int64),
        answerable=np.array([row["answerable"] for row in questions], dtype=np.bool_),
        source=np.array([row["source"] for row in questions], dtype=np.int64),
    )


def shortened(row: Mapping[str, Any]) -> dict[str, Any]:
    """A near-duplicate of a corpus row: its text without the last sentence, where it has more than one."""
    text = row["text"]
    spans = sentence_spans(text)
    return {**row, "chunk_id": row["chunk_id"] + COPY, "text": text[: spans[-2][1]] if len(spans) > 1 else text}


def _still_answers(chunk: Chunk, row: Mapping[str, Any]) -> bool:
    """Whether a copy kept what answers."""
    if not chunk.chunk_id.endswith(COPY):
        return True
    if row.get("gold_sentences"):
        return all(sentence in chunk.text for sentence in row["gold_sentences"])
    return any(answer in chunk.text for answer in row["answers"])


def fold_of(row: Mapping[str, Any], number: int) -> int:
    """Questions on one document share a fold, and so do neighbours without one: they come from one article."""
    group = row["gold_document"] or f"without document, {row['source']}, {number // 10}"
    return zlib.crc32(group.encode()) % FOLDS
