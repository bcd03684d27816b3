"""Cross-validated answers: every question is asked of the whole service, with relevance that never saw its document.

``python -m app.evaluation.study --set CORPUS QUESTIONS [--set ...]`` fits as `app.evaluation.fit` does, five times with
a fifth of the documents left out, plants the corpora into a garden of its own, and asks the questions on what was left
out. What `garden eval` prints of the shipped coefficients, this prints of coefficients that are held out, per file of
questions. The garden can be made harder, and so can the questions: see the options.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console

from app.bootstrap import build_garden
from app.evaluation.fit import fit, gather, read_rows
from app.evaluation.measures import Asked
from app.evaluation.questions import EvalQuestion, read_questions
from app.evaluation.report import print_report
from app.evaluation.run import ask_all, summarise
from app.evaluation.samples import COPY, FOLDS, Samples, fold_of, shortened
from app.ingest.pipeline import ingest
from app.providers.embeddings import make_embeddings
from app.settings import Settings, load_settings
from graph.terms import MOST_KEYWORDS, is_content, words


def main(arguments: Sequence[str] | None = None) -> int:
    """The command; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--set", nargs=2, action="append", required=True, metavar=("CORPUS", "QUESTIONS"), type=Path)
    parser.add_argument("--ask", type=Path, action="append", default=[], help="more questions, asked but not fitted on")
    parser.add_argument("--distractors", type=Path, action="append", default=[], help="documents planted beside them")
    parser.add_argument("--twice", action="store_true", help="plant every chunk twice, the copy without its end")
    parser.add_argument("--keywords", action="store_true", help="ask the content words of each question, at most six")
    given = parser.parse_args(arguments)
    asyncio.run(_study(given))
    return 0


async def _study(given: argparse.Namespace) -> None:
    rows = [row for corpus, _ in given.set for row in read_rows(corpus)]
    fitted_on = [{**row, "source": n} for n, (_, path) in enumerate(given.set) for row in read_rows(path)]
    files = [path for _, path in given.set] + given.ask
    model = make_embeddings(load_settings())
    train = await gather(rows, fitted_on, model.embeddings)
    with tempfile.TemporaryDirectory(prefix="garden-study-") as folder:
        settings = load_settings(data_dir=Path(folder) / "garden", vector_store="embedded")
        planted = [*rows, *map(shortened, rows)] if given.twice else rows
        corpus = Path(folder) / "corpus.jsonl"
        corpus.write_text("".join(json.dumps(row) + "\n" for row in planted), encoding="utf-8")
        await _plant(settings, [corpus, *given.distractors])
        questions = [_files_questions(n, path, given.keywords, given.twice) for n, path in enumerate(files)]
        found: list[list[Asked]] = [[] for _ in files]
        for fold in range(FOLDS):
            _keep(settings, model.name, fit(_without(train, fold)))
            for asked, rows_of in zip(found, questions, strict=True):
                asked += await _ask(settings, [question for at, question in rows_of if at == fold])
        for path, asked in zip(files, found, strict=True):
            print_report(summarise(asked, settings.relevance_threshold), "/".join(path.parts[-2:]), Console(width=100))


def _files_questions(source: int, path: Path, keywords: bool, twice: bool) -> list[tuple[int, EvalQuestion]]:
    """The questions of *path*, each with its fold; of one on two documents, that of the first."""
    found = []
    for number, (row, question) in enumerate(zip(read_rows(path), read_questions(path), strict=True)):
        first = next(iter(row.get("gold_documents") or ()), None)
        fold = fold_of({"gold_document": first, **row, "source": source}, number)
        found.append((fold, _changed(question, keywords, twice)))
    return found


def _changed(question: EvalQuestion, keywords: bool, twice: bool) -> EvalQuestion:
    """*question* in keywords, if wanted; where every chunk stands twice, a copy of the right one is right too."""
    content = [word for word in words(question.question) if is_content(word)][:MOST_KEYWORDS]
    text = " ".join(content) if keywords and content else question.question
    copies = tuple(chunk + COPY for chunk in question.gold_chunks) if twice else ()
    return question.model_copy(update={"question": text, "gold_chunks": question.gold_chunks + copies})


def _without(train: Iterable[Samples], fold: int) -> list[Samples]:
    return [samples.rows(samples.fold[samples.question] != fold) for samples in train]


def _keep(settings: Settings, model: str, entry: Mapping[str, Any]) -> None:
    """Put *entry* where the next start looks for the relevance fitted to a garden."""
    path = settings.data_dir / "relevance_model.json"
    path.write_text(json.dumps({"models": {model: entry}}), encoding="utf-8")


async def _plant(settings: Settings, corpora: Sequence[Path]) -> None:
    garden = build_garden(settings)
    try:
        await ingest(
            corpora, store=garden.store, embeddings=garden.embedding.embeddings, model_name=garden.embedding.name
        )
    finally:
        await garden.aclose()


async def _ask(settings: Settings, questions: Sequence[EvalQuestion]) -> list[Asked]:
    garden = build_garden(settings)
    try:
        return await ask_all(garden.service, questions)
    finally:
        await garden.aclose()


if __name__ == "__main__":
    raise SystemExit(main())
