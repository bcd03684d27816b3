"""Fit relevance to corpora and their questions for ``EMBEDDING_MODEL``, cross-validate it, and write the coefficients.

    python -m training.fit_relevance --set CORPUS QUESTIONS [--set …] [--held CORPUS QUESTIONS …] [--write FILE]

CORPUS is a file of chunks (JSON Lines) or a folder of documents, ingested as by `garden ingest`; each corpus counts
alike. A row of QUESTIONS has ``question, answerable``, one of ``gold_chunk``, ``gold_chunks`` and ``gold`` (a list of
``{file, sentence}``), and perhaps ``gold_document``, ``kind`` and ``corpus``. Of each set it prints the rates by
coefficients that were fitted without its fold, and those by the shipped ones.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from answering.relevance import graders
from answering.relevance.graders import LEXICAL, extractive_confidence
from answering.text.terms import words
from answering.types import MIN_CONFIDENCE, RELEVANCE_THRESHOLD
from app.bootstrap.compose import build_container
from app.cli.evaluation.fit import (
    ANSWER_WEIGHTS,
    RELEVANT_WEIGHTS,
    cross_validate,
    fit,
    mean,
    probabilities,
    rates,
)
from app.cli.evaluation.samples import Floats, Labelled, Samples, collect
from app.ingest.pipeline import ingest_into
from app.providers.embeddings.minilm import MODEL_NAME
from app.providers.embeddings.models import make_embeddings
from app.providers.rerank.reader import OnnxReader
from app.providers.stores.layout import Point
from app.settings import load_settings
from training.rows import read_rows
from training.small_files import folders, labelled_rows, laid_out

SHIPPED = Path(graders.__file__).with_name("relevance_model.json")
WORDS = ("keyword", "coverage")
"""Features of the entry for embedding models that were not calibrated."""
OFF_TOPIC = "off_topic"
"""Kind of a question that no document is about; so is an unanswerable one that says no kind and names no document."""
OTHER_THRESHOLDS = ((0.8, 0.2), (0.8, 0.3), (0.8, 0.7), (0.8, 0.9), (0.5, 0.5), (0.7, 0.5), (0.95, 0.5))
"""Pairs of ``RELEVANCE_THRESHOLD`` and ``MIN_CONFIDENCE_THRESHOLD`` that are shown beside the default."""
MAIN = ("right chunk passes grade", "chunks that pass, a question", "answered right", "right outcome")
MIN_HELD = 0.9
"""A chunk holds a gold sentence when it has so much of its words: white space and markup may differ."""


def main() -> None:
    """Fit, print the rates of each set, and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", nargs=2, action="append", required=True, metavar=("CORPUS", "QUESTIONS"), type=Path)
    parser.add_argument("--held", nargs=2, action="append", default=[], metavar=("CORPUS", "QUESTIONS"), type=Path)
    parser.add_argument("--small-files", action="append", default=[], metavar="MAKER", help="one more set")
    parser.add_argument("--weights", type=Path, help="other weights of the reader")
    parser.add_argument("--write", type=Path, help="file of calibrations to put the coefficients into")
    options = parser.parse_args()
    reader = OnnxReader(options.weights) if options.weights else OnnxReader()
    collected = [
        asyncio.run(gather(corpus, read_rows(path), n, reader)) for n, (corpus, path) in enumerate(options.set)
    ]
    collected += [gather_small(maker, reader) for maker in options.small_files]
    names = [f"{path.parent.name}/{path.name}" for pair in options.set for path in pair]
    names += [f"small files of {maker}" for maker in options.small_files]
    train = joined(collected)
    corpus_of = np.repeat(np.arange(len(collected)), [len(samples.fold) for samples in collected])
    fitted = partial(fit_equally, corpus_of=corpus_of)
    columns = cross_validate(train, fitted)
    shipped = json.loads(SHIPPED.read_text(encoding="utf-8"))["models"]
    model = make_embeddings(load_settings()).name
    in_use = shipped.get(model, shipped[LEXICAL])
    ends = np.cumsum([len(samples.question) for samples in collected])[:-1]
    shown = [*(str(path) for _, path in options.set), *names[2 * len(options.set) :]]
    for name, samples, *found in zip(shown, collected, *(np.split(column, ends) for column in columns), strict=True):
        show(f"{name}, held out", samples, *found)
        show(f"{name}, shipped coefficients", samples, *probabilities(samples, in_use))
    entry = fitted(train)
    for corpus, path in options.held:
        samples = asyncio.run(gather(corpus, read_rows(path), reader=reader))
        show(f"{path}, took no part", samples, *probabilities(samples, entry))
        show(f"{path}, shipped coefficients", samples, *probabilities(samples, in_use))
    if options.write:
        entries = {model: entry}
        if model == MODEL_NAME:
            entries[LEXICAL] = fitted(train, relevance=WORDS, answers=WORDS)
        write(options.write, entries, names, len(train.fold))


def show(name: str, samples: Samples, relevance: Floats, answers: Floats) -> None:
    """Print the rates of one set, and the main ones at other thresholds."""
    shown = rates(samples, relevance, answers) | more_rates(samples, relevance, answers)
    print(f"{name}: " + ", ".join(f"{name} {v:.3f}" for name, v in shown.items() if v is not None))
    for bars in OTHER_THRESHOLDS:
        found = rates(samples, relevance, answers, *bars)
        some = {name: found[name] for name in MAIN} | more_rates(samples, relevance, answers, *bars)
        print(f"  at {bars}: " + ", ".join(f"{name} {v:.3f}" for name, v in some.items() if v is not None), flush=True)


def joined(several: Sequence[Samples]) -> Samples:
    """Join samples; their questions follow each other."""
    starts = np.cumsum([0, *(len(samples.fold) for samples in several[:-1])])
    columns = {
        field.name: np.concatenate([getattr(samples, field.name) for samples in several]) for field in fields(Samples)
    }
    owners = [one.question + start for one, start in zip(several, starts, strict=True)]
    return Samples(**{**columns, "question": np.concatenate(owners)})


def fit_equally(samples: Samples, corpus_of: np.ndarray[Any, Any], **features: Sequence[str]) -> dict[str, Any]:
    """Fit with each corpus repeated until it is about as large as the largest."""
    own = corpus_of[samples.question]
    sizes = Counter(own.tolist())
    return fit(
        joined([samples.rows(own == n) for n, size in sizes.items() for _ in range(round(max(sizes.values()) / size))]),
        **features,
    )


async def gather(
    corpus: Path, rows: Sequence[Mapping[str, Any]], number: int = 0, reader: OnnxReader | None = None
) -> Samples:
    """Ingest *corpus* into a fresh collection, and collect the pairs of its questions, read by *reader*."""
    with tempfile.TemporaryDirectory(prefix="garden-fit-") as folder:
        container = build_container(load_settings(data_dir=Path(folder), vector_store="embedded"))
        try:
            await ingest_into(container.writer, [corpus])
            points = [point async for page in container.store.apoints() for point in page]
            asked = [labelled(row, points, f"{number}, {at // 10}") for at, row in enumerate(rows)]
            return await collect(container.collections, asked, reader or OnnxReader(), lambda _: None)
        finally:
            await container.aclose()


def gather_small(maker: str, reader: OnnxReader) -> Samples:
    """Collect the pairs of the small files of *maker*, each folder by itself."""
    parts = []
    for folder in folders(maker):
        with laid_out(folder) as files:
            parts.append(asyncio.run(gather(files, labelled_rows(folder), reader=reader)))
    return joined(parts)


def labelled(row: Mapping[str, Any], points: Sequence[Point], neighbours: str) -> Labelled:
    """Find the stored chunks and documents that the author of *row* read."""
    gold: Sequence[Mapping[str, str]] = row.get("gold") or ()
    files = [place["file"] for place in gold] or [row.get("gold_document") or ""]
    documents = {
        name for name in (point.metadata["document_id"] for point in points) for file in files if is_file(name, file)
    }
    chunks = set(row.get("gold_chunks") or [row.get("gold_chunk")]) - {None}
    for place in gold:
        chunks |= {
            point.chunk_id
            for point in points
            if is_file(point.metadata["document_id"], place["file"]) and holds(point.text, place["sentence"])
        }
    known = bool(gold or row.get("gold_document")) or row.get("kind", OFF_TOPIC) == OFF_TOPIC
    group = row.get("corpus") or row.get("gold_document") or f"without document, {neighbours}"
    return Labelled(row["question"], row["answerable"], frozenset(chunks), frozenset(documents), group, known)


def is_file(document_id: str, name: str) -> bool:
    """Tell whether a document is the file *name*, which may lack its leading folders."""
    return bool(name) and f"/{document_id}".endswith(f"/{name}")


def holds(text: str, sentence: str) -> bool:
    """Tell whether nearly all words of *sentence* are in *text*."""
    wanted, held = Counter(words(sentence)), Counter(words(text))
    return bool(wanted) and (wanted & held).total() >= MIN_HELD * wanted.total()


def more_rates(
    samples: Samples,
    relevance: Floats,
    answers: Floats,
    least_relevance: float = RELEVANCE_THRESHOLD,
    least_confidence: float = MIN_CONFIDENCE,
) -> dict[str, float | None]:
    """Compute how often something passes for questions that are off topic, or have no answer."""
    passed, questions = relevance >= least_relevance, np.arange(len(samples.fold))
    confident = np.array([extractive_confidence(answer) >= least_confidence for answer in answers], bool)
    answered, known, on_topic, anything = (
        np.isin(questions, samples.question[pairs])
        for pairs in (passed & confident, samples.known, samples.known & samples.relevant, passed)
    )
    return {
        "passages read, a question": float(samples.read.sum() / len(samples.fold)),
        "off topic passes": mean(anything[known & ~on_topic & ~samples.answerable]),
        "wrongly answered, of the unanswerable": mean(answered[~samples.answerable]),
    }


def write(path: Path, entries: Mapping[str, Any], files: Sequence[str], questions: int) -> None:
    """Put *entries* into the file, beside those of other models that it holds."""
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"models": {}}
    models = {*known.get("fitted", {}).get("models", ()), *entries}
    known["fitted"] = {
        "by": "python -m training.fit_relevance",
        "models": sorted(models),
        "questions": questions,
        "files": list(files),
        "idf": "answering.text.terms.english_idf",
        "model": "logistic regression, weights not negative, ridge 1 on standardised features",
        "cross_validation": "five folds, questions on one document in one fold",
        "positive_weights": {"relevance": RELEVANT_WEIGHTS, "answers": ANSWER_WEIGHTS},
    }
    known["models"].update(entries)
    path.write_text(json.dumps(known, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
