"""Fitting relevance to corpora and their questions, over the embedded store and the real models."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import numpy as np

from app.providers.stores.layout import Point
from training.fit_relevance import fit_equally, gather, labelled, write

PLANTS = ["kale", "rose", "oak", "fern", "moss", "leek", "plum", "yew", "ivy", "fig", "pea", "rye"]
ROWS = [
    {"chunk_id": f"{p}#0", "document_id": p, "title": p, "text": f"The {p} is sown in April. It likes {p} food."}
    for p in PLANTS
]
QUESTIONS = [
    {
        "question": f"When is {p} sown?" if known else f"Who sells tractors to {p}s abroad?",
        "answerable": known,
        "gold_chunk": f"{p}#0",
        "gold_document": p,
    }
    for p in PLANTS
    for known in (True, False)
]


def test_a_corpus_and_its_questions_make_an_entry(tmp_path: Path) -> None:
    """A file of chunks is ingested, its questions are asked, and their pairs give every model of an entry."""
    corpus = tmp_path / "corpus.jsonl"
    corpus.write_text("\n".join(map(json.dumps, ROWS)))
    samples = asyncio.run(gather(corpus, QUESTIONS))
    assert samples.answerable.tolist() == [True, False] * len(PLANTS)
    assert set(samples.question[samples.answers > 0]) == set(range(0, 2 * len(PLANTS), 2))
    entry = fit_equally(samples, np.zeros(len(QUESTIONS), dtype=np.int64))
    assert set(entry) == {"relevance", "relevance_read", "answers", "answers_read", "cosine"}


def test_gold_is_a_chunk_of_the_file_that_holds_the_sentence() -> None:
    """Where a question names a file and a sentence, a chunk that holds nearly all its words is gold; others are not."""
    row = {"question": "?", "answerable": True, "corpus": "handbook"}
    row["gold"] = [{"file": "leave.md", "sentence": "You can carry over 240 hours."}]
    text = "You can *carry over* 240 hours. Ask HR."
    stored = [("handbook/leave.md", text), ("handbook/sick-leave.md", text), ("leave.md", "You can carry hours.")]
    none = np.zeros(0, np.float32)
    points = [Point(str(n), words, {"document_id": name}, none, none) for n, (name, words) in enumerate(stored)]
    found = labelled(row, points, "0")
    assert (found.chunks, found.documents, found.group) == ({"0"}, {"handbook/leave.md", "leave.md"}, "handbook")


def test_what_is_fitted_joins_the_other_encoders(tmp_path: Path) -> None:
    """The file keeps the entries of other encoders as they are, and names every one that was fitted."""
    file = tmp_path / "relevance_model.json"
    other = {"relevance": {"bias": -1.0, "weights": {"keyword": 2.0}}}
    file.write_text(json.dumps({"models": {"one": other}, "fitted": {"models": ["one"]}}))
    write(file, {"two": {}}, ["docs", "questions.jsonl"], 4)
    written = json.loads(file.read_text())
    assert written["models"] == {"one": other, "two": {}}
    assert (written["fitted"]["models"], written["fitted"]["questions"]) == (["one", "two"], 4)
