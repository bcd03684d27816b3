"""``garden calibrate``, over a small collection."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from answering.relevance.graders import load_calibrations
from app.pipeline.rerank_grader import read_fitted
from tests.contract.cross_encoder import write_cross_encoder
from tests.support.command import garden

pytestmark = pytest.mark.timeout(300)

PLANTS = "ash birch cedar dill elder fennel garlic hazel iris jasmine kale lavender mint nettle oak parsley".split()
COLOURS = "red blue green white yellow violet orange brown black grey pink golden silver purple teal amber".split()


@pytest.fixture
def sample_data(tmp_path: Path) -> tuple[Path, Path, list[dict[str, Any]]]:
    """A data folder with a small collection, a file of questions about it, and those questions."""
    rows = [
        {"document_id": name, "title": name, "chunk_id": f"{name}#0", "text": f"The {name} has {colour} leaves. "
         f"It is {n} metres tall and grows in bed {n + 7}."}
        for n, (name, colour) in enumerate(zip(PLANTS, COLOURS, strict=True))
    ]  # fmt: skip
    corpus = tmp_path / "plants.jsonl"
    corpus.write_text("\n".join(map(json.dumps, rows)))
    asked = [
        {"question": text.format(name), "answerable": True, "gold_chunk": f"{name}#0", "answers": [answer]}
        for n, (name, colour) in enumerate(zip(PLANTS, COLOURS, strict=True))
        for text, answer in (
            ("What colour are the leaves of the {}?", colour),
            ("How tall is the {}?", f"{n} metres"),
            ("In which bed does the {} grow?", f"bed {n + 7}"),
        )
    ] + [{"question": f"Who painted portrait {n} in Madrid?", "answerable": False} for n in range(16)]
    questions = tmp_path / "questions.jsonl"
    questions.write_text("\n".join(map(json.dumps, asked)))
    data = tmp_path / "data"
    assert garden("ingest", str(corpus), data=data).exit_code == 0
    return data, questions, asked


def test_calibration_is_fitted_kept_and_used(sample_data: tuple[Path, Path, list[dict[str, Any]]]) -> None:
    """Questions about a collection give a calibration that the next start reads; too few questions are refused."""
    data, questions, asked = sample_data
    done = garden("calibrate", str(questions), data=data)
    assert done.exit_code == 0, done.stderr
    assert all(name in done.stdout for name in ("before", "after", "right outcome", "kept in"))
    kept = json.loads((data / "relevance_model.json").read_text())
    assert set(kept["models"]) == {"all-MiniLM-L6-v2"}
    answer = garden("ask", "What colour are the leaves of the hazel?", "--json", data=data)
    assert COLOURS[PLANTS.index("hazel")] in json.loads(answer.stdout)["answer"]
    (data / "relevance_model.json").write_text("{}")
    broken = garden("ask", "What colour are the leaves of the hazel?", data=data)
    assert broken.exit_code == 2
    assert "relevance_model.json" in broken.stderr
    questions.write_text(json.dumps(asked[0]))
    few = garden("calibrate", str(questions), data=data)
    assert (few.exit_code, few.stderr.count("\n")) == (2, 1)


@pytest.mark.long
def test_without_questions_the_headings_are_asked(tmp_path: Path) -> None:
    """From the corpus alone the entry in use is rescaled, no weight against another; a reranker's scale stays."""
    documents, data = tmp_path / "documents", tmp_path / "data"
    documents.mkdir()
    plants = PLANTS[:13]
    for plant, colour in zip(plants, COLOURS, strict=False):
        about = {
            f"Leaves of the {plant}": f"They are {colour} in spring, and fall off in the last weeks of October.",
            f"Watering {plant} seedlings": "Once a day, in the morning, with rain water from the barrel by the gate.",
            f"Soil for {plant} beds": "Sand with a third of compost, which has rested for a year under cover.",
            f"Harvesting the {plant}": "Cut it with a sharp knife, and dry it in the shade for about two weeks.",
        }
        sections = "".join(f"## {heading}\n\n{text}\n\n" for heading, text in about.items())
        (documents / f"{plant}.md").write_text(f"# {plant.title()}\n\n{sections}")
    few = garden("calibrate", data=data)
    assert (few.exit_code, few.stderr.count("\n")) == (2, 1)
    assert "a file of questions" in few.stderr
    assert garden("ingest", str(documents), data=data).exit_code == 0
    folder = write_cross_encoder(tmp_path / "reranker", PLANTS)
    scales = {str(folder): {"bias": 1.0, "weight": 2.0}}
    (data / "relevance_model.json").write_text(json.dumps({"models": {}, "rerankers": scales}))
    done = garden("calibrate", "--json", data=data, RERANKER=str(folder))
    assert done.exit_code == 0, done.stderr
    assert json.loads((data / "relevance_model.json").read_text())["rerankers"] == scales
    reported = json.loads(done.stdout)
    assert (reported["from"], reported["questions"]) == ("headings", 2 * 4 * len(plants))
    assert set(reported["measures"]["right outcome"]) == {"before", "after"}
    assert (reported["kept"], reported["reranker"]) == (str(data / "relevance_model.json"), None)
    kept = read_fitted(data).models["all-MiniLM-L6-v2"].relevance_read
    shipped = load_calibrations()["all-MiniLM-L6-v2"].relevance_read
    ratios = [kept.weights[name] / weight for name, weight in shipped.weights.items()]
    assert max(ratios) == pytest.approx(min(ratios), rel=0.01)


def test_what_does_worse_is_not_kept(tmp_path: Path) -> None:
    """Where the one in use has the better outcome it stays, beside a new scale too."""
    data = tmp_path / "data"
    corpus, questions = tmp_path / "plants.jsonl", tmp_path / "questions.jsonl"
    rows = [{"document_id": p, "title": p, "chunk_id": f"{p}#0", "text": f"The {p} grows in May."} for p in PLANTS]
    corpus.write_text("\n".join(map(json.dumps, rows)))
    asked = [f"{text} {plant}?" for plant in PLANTS[:12] for text in ("When grows the", "How old is the")]
    answerable = [
        {"question": question, "answerable": True, "gold_chunk": f"{question.split()[-1][:-1]}#0"} for question in asked
    ]
    # the same again, more often, as not answerable: declining them all is right more often than not
    declined = [{"question": question, "answerable": False} for question in (asked * 2)[: len(asked) * 3 // 2]]
    questions.write_text("\n".join(map(json.dumps, answerable + declined)))
    assert garden("ingest", str(corpus), data=data).exit_code == 0
    silent = {"bias": -20.0, "weights": {}}
    models = ("relevance", "relevance_read", "answers", "answers_read", "cosine")
    before = json.dumps({"models": {"all-MiniLM-L6-v2": dict.fromkeys(models, silent)}})
    (data / "relevance_model.json").write_text(before)
    worse = garden("calibrate", str(questions), data=data)
    assert worse.exit_code == 0, worse.stderr
    assert "not kept" in worse.stdout
    assert (data / "relevance_model.json").read_text() == before
    folder = write_cross_encoder(tmp_path / "reranker", [*asked, *(row["text"] for row in rows)])
    scaled = garden("calibrate", str(questions), "--json", data=data, RERANKER=str(folder))
    assert scaled.exit_code == 0, scaled.stderr
    reported, stored = json.loads(scaled.stdout), json.loads((data / "relevance_model.json").read_text())
    assert reported["kept"] is None
    assert stored == json.loads(before) | {"rerankers": {str(folder): reported["reranker"]}}


def test_a_rerankers_scores_are_brought_onto_our_scale(
    sample_data: tuple[Path, Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    """With a reranker chosen, its scale is fitted too, kept under its name, and read by the next start."""
    data, questions, asked = sample_data
    texts = [row["question"] for row in asked] + (tmp_path / "plants.jsonl").read_text().split()
    folder = write_cross_encoder(tmp_path / "reranker", texts)
    done = garden("calibrate", str(questions), data=data, RERANKER=str(folder))
    assert done.exit_code == 0, done.stderr
    assert "the reranker's scale is kept" in done.stdout
    kept = json.loads((data / "relevance_model.json").read_text())
    scale = kept["rerankers"][str(folder)]
    assert scale["weight"] > 0.0
    ask = ("ask", "What colour are the leaves of the hazel?", "--json")
    answer = garden(*ask, data=data, RERANKER=str(folder))
    assert COLOURS[PLANTS.index("hazel")] in json.loads(answer.stdout)["answer"]
    scale["bias"] -= 100.0
    (data / "relevance_model.json").write_text(json.dumps(kept))
    declined = garden(*ask, data=data, RERANKER=str(folder))
    assert json.loads(declined.stdout)["metadata"]["answerSynthesized"] is False
    assert COLOURS[PLANTS.index("hazel")] in json.loads(garden(*ask, data=data).stdout)["answer"]
    kept["rerankers"][str(folder)] = {"bias": "steep"}
    (data / "relevance_model.json").write_text(json.dumps(kept))
    broken = garden(*ask, data=data, RERANKER=str(folder))
    assert (broken.exit_code, broken.stderr.count("\n")) == (2, 1)
