"""Fit the relevance of one embedding model to a corpus and its questions, and say how well it holds.

``python -m app.evaluation.fit --set CORPUS QUESTIONS [--set ...] [--write FILE]`` fits on the corpora together, as they
are and with every chunk twice, reports five-fold cross-validation, and writes the coefficients.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.evaluation.crossvalidate import LOST_ANSWER_WEIGHT, cross_validate, rates
from app.evaluation.logistic import fit_logistic
from app.evaluation.memory_store import MemoryStore
from app.evaluation.samples import Samples, collect, shortened
from app.providers.embeddings import make_embeddings
from app.retrieval import HybridRetriever
from app.settings import load_settings
from graph.relevance.calibration import LEXICAL

TOPICAL = ("chunk_similarity", "coverage", "rank", "chunk_gap", "sentence_gap", "defines")
ANSWERS = (
    "chunk_similarity",
    "sentence_similarity",
    "rest",
    "rank",
    "chunk_gap",
    "sentence_gap",
    "defines",
    "asks",
)
WORDS_TOPICAL = ("coverage", "rank", "defines")
WORDS_ANSWERS = ("coverage", "rest", "rank", "defines", "asks")
LOST_CHUNK_WEIGHT = 1.6
"""Gate one would rather pass a wrong chunk than lose a right one: gate two still looks at what passes."""
ANSWER_BAR = 0.5
"""The bar of gate two: the least confidence with which an answer is given, so that there is one bar, not two."""


def fit(train: Sequence[Samples], topical: Sequence[str] = TOPICAL, answers: Sequence[str] = ANSWERS) -> dict[str, Any]:
    """The entry of one embedding model in the file of calibrations. Raises `ValueError` as `fit_logistic` does."""
    return {
        "topical": _logistic(train, topical, "topical", LOST_CHUNK_WEIGHT),
        "answers": _logistic(train, answers, "answers", LOST_ANSWER_WEIGHT),
        "cosine": _logistic(train, ("chunk_similarity",), "topical"),
        "answer_threshold": ANSWER_BAR,
    }


async def gather(
    rows: Sequence[Mapping[str, Any]], questions: Sequence[Mapping[str, Any]], embeddings: Embeddings
) -> list[Samples]:
    """Samples from the corpus *rows* as they are, then from every row twice."""
    gardens = [list(rows), [*rows, *map(shortened, rows)]]
    return [
        await collect(HybridRetriever(MemoryStore.of(garden, embeddings), embeddings), questions) for garden in gardens
    ]


def _logistic(
    train: Sequence[Samples], names: Sequence[str], label: str, positive_weight: float = 1.0
) -> dict[str, Any]:
    x = np.vstack([samples.columns(names) for samples in train])
    y: NDArray[np.float64] = np.concatenate([getattr(samples, label) for samples in train])
    weights, bias = fit_logistic(x, y, positive_weight)
    found = {name: round(float(weight), 3) for name, weight in zip(names, weights, strict=True) if weight > 0.0}
    return {"bias": round(bias, 3), "weights": found}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", nargs=2, action="append", required=True, metavar=("CORPUS", "QUESTIONS"), type=Path)
    parser.add_argument("--write", type=Path, help="file of calibrations to put the coefficients into")
    parser.add_argument("--ablate", action="store_true", help="also say how well it holds without each feature")
    given = parser.parse_args(arguments)
    rows = [row for corpus, _ in given.set for row in read_rows(corpus)]
    questions = [{**row, "source": n} for n, (_, path) in enumerate(given.set) for row in read_rows(path)]
    model = make_embeddings(load_settings())
    train = asyncio.run(gather(rows, questions, model.embeddings))
    entries = {model.name: fit(train), LEXICAL: fit(train, WORDS_TOPICAL, WORDS_ANSWERS)}
    files = [path for _, path in given.set]
    _report(train, files)
    for name in dict.fromkeys((*TOPICAL, *ANSWERS)) if given.ablate else ():
        _report(train, files, without=name)
    if given.write:
        _write(given.write, entries, [str(path.name) for pair in given.set for path in pair], len(questions))
    return 0


def _report(train: Sequence[Samples], files: Sequence[Path], without: str = "") -> None:
    """Cross-validate over the gardens of `gather`, and print a line per garden, and per file of questions in it."""
    topical = tuple(name for name in TOPICAL if name != without)
    answers = tuple(name for name in ANSWERS if name != without)
    held_out = cross_validate(train, topical, answers, LOST_CHUNK_WEIGHT)
    ending = f", without {without}" if without else ""
    for garden, samples, found in zip(("as it is", "every chunk twice"), train, held_out, strict=True):
        print_rates(f"all, {garden}{ending}", rates(samples, *found, ANSWER_BAR))
        for number, path in enumerate(files):
            print_rates(f"{path}, {garden}{ending}", rates(samples, *found, ANSWER_BAR, number))


def print_rates(title: str, found: Mapping[str, float]) -> None:
    """One line of measures."""
    print(f"{title}: " + ", ".join(f"{name} {value:.3f}" for name, value in found.items()), file=sys.stdout)  # noqa: T201 - the command's output


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSON Lines file. Raises `OSError` and `ValueError` when it is not one."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _write(path: Path, entries: Mapping[str, Any], files: Sequence[str], questions: int) -> None:
    """Put *entries* into the file, beside those of other models that it holds."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"models": {}}
    known["fitted"] = {
        "by": "python -m app.evaluation.fit",
        "questions": questions,
        "files": list(files),
        "idf": "graph.relevance.english.english_idf",
        "gardens": ["as it is", "every chunk twice, the copy without its last sentence"],
        "model": "logistic regression, weights not negative, ridge 1 on standardised features",
        "cross_validation": "five folds, questions on one document in one fold",
        "positive_weight_topical": LOST_CHUNK_WEIGHT,
        "positive_weight_answers": LOST_ANSWER_WEIGHT,
    }
    known["models"].update(entries)
    path.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
