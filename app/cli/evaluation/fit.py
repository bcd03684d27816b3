"""Fit the relevance of one embedding model to a corpus and its questions, and say how well it holds.

``python -m app.cli.evaluation.fit --set CORPUS QUESTIONS [--set ...] [--write FILE]`` fits on the corpora together,
reports five-fold cross-validation, and writes the coefficients. CORPUS is a file of chunks (JSON Lines) or a folder of
documents.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from app.cli.evaluation.crossvalidate import balanced, cross_validate, logits, rates
from app.cli.evaluation.logistic import fit_logistic
from app.cli.evaluation.memory_store import MemoryStore
from app.cli.evaluation.samples import Samples, collect
from app.ingest.documents import LoadedDocument, SplitDocument
from app.ingest.loaders.table import LOADERS, load_file
from app.ingest.split import split_document
from app.pipeline.retriever import HybridRetriever
from app.providers.embeddings.models import make_embeddings
from app.providers.rerank.reader import OnnxReader
from app.settings import load_settings
from graph.policy import MIN_CONFIDENCE
from graph.ports import PassageReader
from graph.relevance.calibration import LEXICAL

RELEVANCE = ("chunk_similarity", "sentence_similarity", "keyword", "coverage")
ANSWERS = ("chunk_similarity", "sentence_similarity", "coverage")
WORDS = ("keyword", "coverage")
READ = ("margin", "answerable")
"""What the reader adds, where a chunk was read."""
LOST_CHUNK_WEIGHT, LOST_ANSWER_WEIGHT = 12.0, 3.0
"""What a right row counts against a wrong one. Relevance would rather pass a wrong chunk than lose a right one, for
whether it answers is decided after it."""


def fit(
    train: Sequence[Samples],
    relevance: Sequence[str] = RELEVANCE,
    answers: Sequence[str] = ANSWERS,
    read: Sequence[str] = READ,
) -> dict[str, Any]:
    """The entry of one embedding model in the file of calibrations. Raises `ValueError` as `fit_logistic` does."""
    names = {
        "relevance": relevance,
        "relevance_read": (*relevance, *read),
        "answers": answers,
        "answers_read": (*answers, *read),
        "cosine": ("chunk_similarity",),
    }
    made = {}
    for model, (rows, label, positive_weight) in _rows(train).items():
        x = np.vstack([one.columns(names[model]) for one in rows])
        weights, bias = fit_logistic(x, _labels(rows, label), positive_weight)
        made[model] = _model(bias, dict(zip(names[model], weights, strict=True)))
    return made


def rescale(train: Sequence[Samples], entry: Mapping[str, Any], added: Sequence[str] = ()) -> dict[str, Any]:
    """*entry* with each of its sums z made ``a·z + b`` and the features *added*, but for the plain cosine's, joined.

    Neither a nor a weight is negative. Raises `ValueError` as `fit_logistic` does.
    """
    made = {}
    for model, (rows, label, positive_weight) in _rows(train).items():
        joining = () if model == "cosine" else added
        x = np.vstack([np.column_stack([logits(one, entry[model]), one.columns(joining)]) for one in rows])
        (scale, *weights), bias = fit_logistic(x, _labels(rows, label), positive_weight)
        found = {name: scale * weight for name, weight in entry[model]["weights"].items()}
        for name, weight in zip(joining, weights, strict=True):
            found[name] = found.get(name, 0.0) + weight
        made[model] = _model(scale * entry[model]["bias"] + bias, found)
    return made


def _rows(train: Sequence[Samples]) -> dict[str, tuple[list[Samples], str, float]]:
    """Per model of an entry the pairs it is fitted on, the label, and what a right pair counts."""
    train = balanced(train)
    known, judged = [one.rows(one.known) for one in train], [one.rows(one.judged) for one in train]
    return {
        "relevance": (known, "topical", LOST_CHUNK_WEIGHT),
        "relevance_read": ([one.rows(one.read) for one in known], "topical", LOST_CHUNK_WEIGHT),
        "answers": (judged, "answers", LOST_ANSWER_WEIGHT),
        "answers_read": ([one.rows(one.read) for one in judged], "answers", LOST_ANSWER_WEIGHT),
        "cosine": (known, "topical", 1.0),
    }


async def gather(
    corpora: Sequence[tuple[Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]],
    embeddings: Embeddings,
    reader: PassageReader,
) -> list[Samples]:
    """Samples of each corpus and its questions."""
    return [
        await collect(HybridRetriever(MemoryStore.of(rows, embeddings), embeddings), questions, reader)
        for rows, questions in corpora
    ]


def _labels(rows: Sequence[Samples], label: str) -> NDArray[np.float64]:
    return np.concatenate([getattr(one, label) for one in rows])


def _model(bias: float, weights: Mapping[str, float]) -> dict[str, Any]:
    kept = {name: round(float(weight), 3) for name, weight in weights.items() if weight > 0.0}
    return {"bias": round(float(bias), 3), "weights": kept}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", nargs=2, action="append", required=True, metavar=("CORPUS", "QUESTIONS"), type=Path)
    parser.add_argument("--write", type=Path, help="file of calibrations to put the coefficients into")
    parser.add_argument("--ablate", action="store_true", help="also say how well it holds without each feature")
    given = parser.parse_args(arguments)
    corpora = [
        (read_corpus(corpus), [{**row, "source": n} for row in read_rows(path)])
        for n, (corpus, path) in enumerate(given.set)
    ]
    questions = sum(len(asked) for _, asked in corpora)
    model = make_embeddings(load_settings())
    train = asyncio.run(gather(corpora, model.embeddings, OnnxReader()))
    entries = {model.name: fit(train), LEXICAL: fit(train, WORDS, WORDS)}
    files = [path for _, path in given.set]
    _report(train, files)
    for name in dict.fromkeys((*RELEVANCE, *ANSWERS, *READ)) if given.ablate else ():
        _report(train, files, without=name)
    if given.write:
        _write(given.write, entries, [str(path.name) for pair in given.set for path in pair], questions)
    return 0


def _report(train: Sequence[Samples], files: Sequence[Path], without: str = "") -> None:
    """Cross-validate over the corpora together, and print a line for each."""
    relevance, answers, read = (
        tuple(name for name in names if name != without) for names in (RELEVANCE, ANSWERS, READ)
    )
    held_out = cross_validate(train, partial(fit, relevance=relevance, answers=answers, read=read))
    ending = f", without {without}" if without else ""
    for path, samples, found in zip(files, train, held_out, strict=True):
        print_rates(f"{path}{ending}", rates(samples, *found, MIN_CONFIDENCE))


def print_rates(title: str, found: Mapping[str, float]) -> None:
    """One line of measures."""
    print(f"{title}: " + ", ".join(f"{name} {value:.3f}" for name, value in found.items()), file=sys.stdout)  # noqa: T201 - the command's output


def read_corpus(path: Path) -> list[dict[str, Any]]:
    """The chunks of a JSON Lines file, or of a folder of documents as ingest cuts them."""
    if not path.is_dir():
        return read_rows(path)
    return [
        {**chunk.model_dump(), "document_id": document.document_id, "title": document.title}
        for file in sorted(one for one in path.rglob("*") if one.is_file() and one.suffix.lower() in LOADERS)
        for document in load_file(file, file.relative_to(path).as_posix())
        if isinstance(document, LoadedDocument)
        for split in split_document(document)
        if isinstance(split, SplitDocument)
        for chunk in split.chunks
    ]


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The rows of a JSON Lines file. Raises `OSError` and `ValueError` when it is not one."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _write(path: Path, entries: Mapping[str, Any], files: Sequence[str], questions: int) -> None:
    """Put *entries* into the file, beside those of other models that it holds."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"models": {}}
    known["fitted"] = {
        "by": "python -m app.cli.evaluation.fit",
        "questions": questions,
        "files": list(files),
        "idf": "graph.relevance.english.english_idf",
        "model": "logistic regression, weights not negative, ridge 1 on standardised features",
        "cross_validation": "five folds, questions on one document in one fold",
        "positive_weights": [LOST_CHUNK_WEIGHT, LOST_ANSWER_WEIGHT],
    }
    known["models"].update(entries)
    path.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
