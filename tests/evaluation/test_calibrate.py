"""``garden calibrate``, over a small garden in a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.kits.cross_encoder import write_cross_encoder

PLANTS = "ash birch cedar dill elder fennel garlic hazel iris jasmine kale lavender mint nettle oak parsley".split()
COLOURS = "red blue green white yellow violet orange brown black grey pink golden silver purple teal amber".split()


def run(*arguments: str, data: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "DATA_DIR": str(data), **settings}
    command = [sys.executable, "-m", "app.cli", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100, env=environment)


@pytest.fixture
def planted(tmp_path: Path) -> tuple[Path, Path, list[dict[str, Any]]]:
    """A data folder with the small garden, a file of questions about it, and those questions."""
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
    assert run("ingest", str(corpus), data=data).returncode == 0
    return data, questions, asked


def test_calibration_is_fitted_kept_and_used(planted: tuple[Path, Path, list[dict[str, Any]]]) -> None:
    """Questions about a garden give a calibration that the next start reads; too few questions are refused."""
    data, questions, asked = planted
    done = run("calibrate", str(questions), data=data)
    assert done.returncode == 0, done.stderr
    kept = json.loads((data / "relevance_model.json").read_text())
    assert set(kept["models"]) == {"all-MiniLM-L6-v2"}
    answer = run("ask", "What colour are the leaves of the hazel?", "--json", data=data)
    assert COLOURS[PLANTS.index("hazel")] in json.loads(answer.stdout)["answer"]
    (data / "relevance_model.json").write_text("{}")
    broken = run("ask", "What colour are the leaves of the hazel?", data=data)
    assert broken.returncode == 2
    assert "relevance_model.json" in broken.stderr
    questions.write_text(json.dumps(asked[0]))
    few = run("calibrate", str(questions), data=data)
    assert (few.returncode, few.stderr.count("\n")) == (2, 1)


def test_a_rerankers_scores_are_brought_onto_our_scale(
    planted: tuple[Path, Path, list[dict[str, Any]]], tmp_path: Path
) -> None:
    """With a reranker chosen, its scale is fitted too, kept under its name, and read by the next start."""
    data, questions, asked = planted
    texts = [row["question"] for row in asked] + (tmp_path / "plants.jsonl").read_text().split()
    folder = write_cross_encoder(tmp_path / "reranker", texts)
    done = run("calibrate", str(questions), data=data, RERANKER=str(folder))
    assert done.returncode == 0, done.stderr
    kept = json.loads((data / "relevance_model.json").read_text())
    scale = kept["rerankers"][str(folder)]
    assert scale["weight"] > 0.0
    ask = ("ask", "What colour are the leaves of the hazel?", "--json")
    answer = run(*ask, data=data, RERANKER=str(folder))
    assert COLOURS[PLANTS.index("hazel")] in json.loads(answer.stdout)["answer"]
    scale["bias"] -= 100.0
    (data / "relevance_model.json").write_text(json.dumps(kept))
    declined = run(*ask, data=data, RERANKER=str(folder))
    assert json.loads(declined.stdout)["metadata"]["answerSynthesized"] is False
    assert COLOURS[PLANTS.index("hazel")] in json.loads(run(*ask, data=data).stdout)["answer"]
    kept["rerankers"][str(folder)] = {"bias": "steep"}
    (data / "relevance_model.json").write_text(json.dumps(kept))
    broken = run(*ask, data=data, RERANKER=str(folder))
    assert (broken.returncode, broken.stderr.count("\n")) == (2, 1)
