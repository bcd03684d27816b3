"""``garden calibrate``: fit relevance for your own garden and embedding model, from questions or from its headings.

Questions also fit the scale of a reranker's scores, where ``RERANKER`` names one.
The result goes to ``DATA_DIR/relevance_model.json``, which the next start reads; remove the file to go back.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from app.bootstrap.compose import build_container, calibrations_of
from app.bootstrap.container import AppContainer
from app.cli.evaluation.crossvalidate import cross_validate, probabilities, rates
from app.cli.evaluation.fit import fit, rescale
from app.cli.evaluation.fit_reranker import fit_scale
from app.cli.evaluation.headings import heading_rows, heading_samples
from app.cli.evaluation.measures import folded, is_gold
from app.cli.evaluation.questions import EvalQuestion, read_questions
from app.cli.evaluation.samples import Samples, collect
from app.cli.progress import Show, progress
from app.pipeline.factories import make_rerank_grader
from app.pipeline.rerank_grader import AS_IT_IS, RerankGrader, ScoreScale
from app.providers.rerank.reader import OnnxReader
from app.providers.stores.payloads import chunk_from_payload
from app.settings import Settings, load_settings
from graph.errors import InvalidInput
from graph.policy import MIN_CONFIDENCE
from graph.relevance.calibration import calibration_for
from graph.state import Question

LEAST_QUESTIONS = 50
"""Fewer questions than this are too few to fit a handful of weights to, five folds held out in turn."""
NEARNESS = ("chunk_similarity", "sentence_similarity")
"""What headings may add to an entry that looks at words alone."""
OUTCOME = "right outcome"
MEASURES = {
    "right chunk passes gate one": "right chunk passes grade",
    "chunks through gate one": "chunks that pass, a question",
    "answered right": "answered right",
    "answered wrongly": "answered wrongly",
    "calibration error, pairs": "calibration error of relevance",
    "of answers": "calibration error of answers",
    OUTCOME: OUTCOME,
}
"""Those of ``rates`` that are shown, and how they are called."""


def run_calibrate(paths: list[Path], *, keep: bool = False, as_json: bool = False) -> int:
    """Fit to the questions of *paths*, or without any to the garden's headings; print what it gains.

    The new calibration is kept where its held-out outcome is not worse than that of the one in use, or with *keep*.
    A reranker's scale, which these measures do not show, is kept always; headings leave it as it is.
    Raises ``InvalidInput`` when there are too few questions or headings, or too few whose right chunk the garden holds.
    """
    settings = load_settings()
    asked = "questions" if paths else "headings"
    questions = [question for path in paths for question in read_questions(path)]
    if paths and len(questions) < LEAST_QUESTIONS:
        raise InvalidInput(f"At least {LEAST_QUESTIONS} questions are needed, not {len(questions)}.", "questions")
    samples, model, scale = asyncio.run(_samples(settings, questions))
    calibrations = calibrations_of(settings)
    in_use = asdict(calibration_for(model, calibrations))
    # Headings find their own words: fitted freely, these would count for more than they do of a question.
    from_headings = partial(rescale, entry=in_use, added=() if model in calibrations else NEARNESS)
    fitted = fit if paths else from_headings
    try:
        entry = fitted([samples])
        (held_out,) = cross_validate([samples], fitted)
    except ValueError as error:
        advice = "" if paths else ": give a file of questions"
        raise InvalidInput(f"The {asked} do not tell right chunks from wrong ones{advice}.", "questions") from error
    before, after = (rates(samples, *one, MIN_CONFIDENCE) for one in (probabilities(samples, in_use), held_out))
    path = settings.data_dir / "relevance_model.json"
    kept = path if keep or after[OUTCOME] >= before[OUTCOME] else None
    if kept or scale:
        stored = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"models": {}}
        if kept:
            stored["models"][model] = entry
        if scale:
            stored.setdefault("rerankers", {})[settings.reranking] = asdict(scale)
        path.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    measures = {
        shown: {"before": _value(before[name]), "after": _value(after[name])} for name, shown in MEASURES.items()
    }
    if as_json:
        result = {"from": asked, "questions": len(samples.fold), "measures": measures}
        result |= {"kept": str(kept) if kept else None, "reranker": asdict(scale) if scale else None}
        sys.stdout.write(json.dumps(result, indent=2) + "\n")
    else:
        title = f"{len(samples.fold)} questions{'' if paths else ' made of headings'}, held out"
        _print(title, measures, kept)
        if scale:
            sys.stdout.write(f"the scale of {settings.reranking} is kept in {path}\n")
    return 0


def _value(rate: float) -> float | None:
    return None if isnan(rate) else round(rate, 3)


def _print(title: str, measures: Mapping[str, Mapping[str, float | None]], kept: Path | None) -> None:
    out = Console(highlight=False, soft_wrap=True)
    table = Table("measure", "before", "after", title=title)
    for name, values in measures.items():
        table.add_row(name, *("–" if value is None else f"{value:.3f}" for value in values.values()))
    out.print(table)
    if kept:
        out.print(f"kept in {kept}; the next start reads it")
    else:
        out.print("not kept: the outcome would be worse; --keep keeps it all the same")


async def _samples(settings: Settings, questions: list[EvalQuestion]) -> tuple[Samples, str, ScoreScale | None]:
    """Samples of *questions*, or else of headings; the embedding model's name; with questions, a reranker's scale."""
    named = questions and settings.reranking not in ("local", "none")
    grader = make_rerank_grader(settings, AS_IT_IS) if named else None
    container = build_container(settings, grader=grader)
    try:
        with progress("asking", "questions") as show:
            if not questions:
                return await _headings(container, show), container.embedding.name, None
            samples, scale = await _asked(container, questions, grader, show)
            return samples, container.embedding.name, scale
    finally:
        await container.aclose()


async def _asked(
    container: AppContainer, questions: list[EvalQuestion], grader: RerankGrader | None, show: Show
) -> tuple[Samples, ScoreScale | None]:
    rows = []
    for done, question in enumerate(questions, 1):
        rows.append(await _row(container, question))
        show(done, 2 * len(questions), "")
    known = [row for row in rows if row["gold_chunks"] or not row["answerable"]]
    if len(known) < LEAST_QUESTIONS:
        raise InvalidInput("The garden holds the right chunks of too few of these questions.", "questions")
    scale = await fit_scale(grader, container.retriever, known) if grader else None
    samples = await collect(
        container.retriever,
        known,
        OnnxReader(),
        lambda done: show(len(questions) + done, len(questions) + len(known), ""),
    )
    return samples, scale


async def _headings(container: AppContainer, show: Show) -> Samples:
    chunks = [
        chunk_from_payload(point.chunk_id, {"metadata": point.metadata})
        async for page in container.store.apoints()
        for point in page
    ]
    rows = heading_rows(chunks)
    if len(rows) < LEAST_QUESTIONS:
        raise InvalidInput(
            f"{LEAST_QUESTIONS} headings that can be asked are needed, and the garden has {len(rows)}: "
            "give a file of questions.",
            "questions",
        )
    return await heading_samples(rows, container.store, container.embedding.embeddings, OnnxReader(), show)


async def _row(container: AppContainer, question: EvalQuestion) -> dict[str, Any]:
    """The row ``collect`` wants, with the chunks the question is about: as given, or the one that holds its answer."""
    gold = list(question.gold_chunks)
    if question.answerable and not gold:
        gold = await _found(container, question)
    return {
        "question": question.question,
        "answerable": question.answerable,
        "gold_chunks": gold,
        "gold_document": gold[0].partition("#")[0] if gold else None,
    }


async def _found(container: AppContainer, question: EvalQuestion) -> list[str]:
    """The id of the first retrieved chunk that holds the answer, if one does."""
    now = time.monotonic()
    asked = Question(question.question, (question.question,), 1, None, None, now, now + 60)
    wanted = [folded(one) for part in question.answers for one in part]
    found = [
        chunk.chunk_id
        for chunk in (await container.retriever.retrieve(asked)).subquery_results[0].chunks
        if is_gold(question, chunk.chunk_id, chunk.document_id, chunk.source)
        and (not wanted or any(one in folded(chunk.text) for one in wanted))
    ]
    return found[:1]
