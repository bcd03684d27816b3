"""Fitting relevance to a corpus and its questions."""

import asyncio
import hashlib

import numpy as np
import pytest
from langchain_core.embeddings import Embeddings

from app.cli.evaluation.crossvalidate import calibration_error
from app.cli.evaluation.fit import fit, gather, rescale
from app.cli.evaluation.logistic import fit_logistic
from app.cli.evaluation.samples import is_gold
from app.providers.rerank.reader import OnnxReader
from graph.relevance.features import FEATURE_NAMES
from graph.state import Chunk
from graph.terms import stems

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
        "answers": ["April"] if known else [],
        "source": 0,
    }
    for p in PLANTS
    for known in (True, False)
]


class WordVectors(Embeddings):
    """A text's vector is the sum of its stems' own random ones."""

    def embed_query(self, text: str) -> list[float]:
        rows = [
            np.random.default_rng(int.from_bytes(hashlib.sha256(s.encode()).digest()[:4], "big")).normal(size=32)
            for s in stems(text)
        ]
        return [float(x) for x in np.sum(rows, axis=0)] if rows else [0.0] * 32

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]


def test_the_weights_of_separable_evidence_are_found_and_never_negative() -> None:
    """A feature that speaks for the label gets weight, one that speaks against it none, and noise next to none."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2000, 3))
    y = (rng.random(2000) < 1 / (1 + np.exp(-(2 * x[:, 0] - 1.5 * x[:, 1] - 1)))).astype(float)
    weights, bias = fit_logistic(x, y)
    assert weights[0] > 1.0
    assert weights[1] == 0.0
    assert abs(weights[2]) < 0.2
    p = 1 / (1 + np.exp(-(x @ weights + bias)))
    assert p.mean() == pytest.approx(y.mean(), abs=1e-3)


def test_one_class_cannot_be_fitted() -> None:
    """Rows that are all right, or all wrong, are refused."""
    with pytest.raises(ValueError, match="both"):
        fit_logistic(np.ones((3, 1)), np.ones(3))


def test_calibration_error_is_the_gap_between_stated_and_seen() -> None:
    """What says .9 and happens half the time is .4 off; what says .25 and happens a quarter of the time is not off."""
    assert calibration_error(np.full(10, 0.9), np.array([1.0, 0.0] * 5)) == pytest.approx(0.4)
    assert calibration_error(np.full(8, 0.25), np.array([1.0, 0, 0, 0] * 2)) == pytest.approx(0.0)


def test_a_corpus_and_its_questions_make_a_calibration() -> None:
    """Fitting gives a model per gate, no weight negative, whose features all exist, and the one bar."""
    train = asyncio.run(gather([(ROWS, QUESTIONS)], WordVectors(), OnnxReader()))
    assert [len(samples.fold) for samples in train] == [len(QUESTIONS)]
    entry = fit(train)
    for gate in ("relevance", "relevance_read", "answers", "answers_read", "cosine"):
        assert set(entry[gate]["weights"]) <= set(FEATURE_NAMES)
        assert all(weight > 0 for weight in entry[gate]["weights"].values())


def test_rescaling_keeps_the_proportions_of_an_entry_but_for_what_joins_it() -> None:
    """Each model's weights are those it had times one number; an added feature joins all but the plain cosine."""
    train = asyncio.run(gather([(ROWS, QUESTIONS)], WordVectors(), OnnxReader()))
    words = {"bias": -1.0, "weights": {"keyword": 2.0, "coverage": 1.0}}
    entry = dict.fromkeys(("relevance", "relevance_read", "answers", "answers_read"), words)
    entry["cosine"] = {"bias": 0.0, "weights": {"chunk_similarity": 1.0}}
    plain, joined = rescale(train, entry), rescale(train, entry, ("sentence_similarity",))
    for model in ("relevance", "answers"):
        assert plain[model]["weights"]["keyword"] == pytest.approx(2 * plain[model]["weights"]["coverage"], abs=0.01)
    assert "sentence_similarity" in joined["relevance"]["weights"]
    assert plain["cosine"] == joined["cosine"]


def test_gold_is_a_chunk_of_the_file_that_holds_the_sentence() -> None:
    """Where a question names a file and a sentence, a chunk that holds nearly all its words is gold; others are not."""
    row = {"gold": [{"file": "leave.md", "sentence": "You can carry over 240 hours."}]}
    text = "You can *carry over* 240 hours. Ask HR."
    assert is_gold(Chunk("a", "handbook/leave.md", "Leave", text), row)
    assert not is_gold(Chunk("a", "handbook/sick-leave.md", "Leave", text), row)
    assert not is_gold(Chunk("a", "leave.md", "Leave", "You can carry hours."), row)
