"""Run `garden calibrate`: fit relevance to collection and embedding model, by questions or headings.

Questions also fit the scale of ``RERANKER``'s scores. The next start reads ``DATA_DIR/relevance_model.json``.
"""

import json
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.table import Table

from answering.relevance.graders import calibration_for, load_calibrations
from app.bootstrap.compose import AppContainer, build_container
from app.cli.evaluation.fit import RELEVANT_WEIGHTS, cross_validate, fit, fit_logistic, probabilities, rates, rescale
from app.cli.evaluation.measures import EvalQuestion, folded, read_questions, rounded
from app.cli.evaluation.samples import Labelled, Samples, collect, heading_questions, heading_samples, retrieve
from app.cli.shared import OK, JsonFlag, print_json, progress, run_opened
from app.pipeline.rerank_grader import FITTED_FILE, RerankGrader, ScoreScale, read_fitted
from app.providers.rerank.reader import OnnxReader
from app.providers.rerank.scores import log_odds_of
from app.providers.stores.payloads import chunk_from_payload
from graph.errors import InvalidInput
from graph.ports import Retriever

MIN_QUESTIONS = 50
"""Fewer questions are too few to fit a handful of weights, with five folds held out in turn."""
COSINES = ("chunk_similarity", "sentence_similarity")
"""Features that headings add to an entry of words alone."""


def run_calibrate(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="QUESTIONS", help="question files, as for garden eval [the documents' headings]"),
    ] = None,
    as_json: JsonFlag = False,
) -> int:
    """Fit the relevance to your documents and embedding model; print rates before and after.

    The new calibration is kept where its held-out outcome is not worse; a reranker's scale always.
    """
    questions = [question for path in paths for question in read_questions(path)] if paths else None
    result = run_opened(build_container, partial(_calibrate, questions))
    (print_json if as_json else _print)(result)
    return OK


async def _calibrate(questions: list[EvalQuestion] | None, container: AppContainer) -> dict[str, Any]:
    """Fit to *questions*, else to headings; store an improvement; return rates before and after."""
    settings, model, scale = container.settings, container.embedding.name, None
    if questions is None:
        samples = await _from_headings(container)
    else:
        samples, scale = await _from_questions(container, questions)
    previous = read_fitted(settings.data_dir)
    calibrations = load_calibrations() | previous.models
    in_use = asdict(calibration_for(model, calibrations))
    # Headings find their own words: fitted freely, these would count for more than they do of a question.
    rescaled = partial(rescale, entry=in_use, added=() if model in calibrations else COSINES)
    fitted = partial(fit, in_use=in_use) if questions else rescaled
    try:
        entry, held_out = fitted(samples), cross_validate(samples, fitted)
    except ValueError as error:
        raise InvalidInput("Right chunks cannot be told from wrong ones: give more questions.", "questions") from error
    before, after = (rates(samples, *fitted) for fitted in (probabilities(samples, in_use), held_out))
    path, stored = settings.data_dir / FITTED_FILE, previous.model_dump()
    if improved := (after["right outcome"] or 0.0) >= (before["right outcome"] or 0.0):
        stored["models"][model] = entry
    if scale:
        stored["rerankers"][settings.reranker] = asdict(scale)
    if improved or scale:
        path.write_text(json.dumps(stored, indent=2) + "\n", encoding="utf-8")
    return {
        "from": "questions" if questions else "headings",
        "questions": len(samples.fold),
        "measures": {name: {"before": rounded(before[name], 3), "after": rounded(after[name], 3)} for name in before},
        "kept": str(path) if improved else None,
        "reranker": asdict(scale) if scale else None,
    }


def _print(result: dict[str, Any]) -> None:
    out = Console(highlight=False, soft_wrap=True)
    table = Table("measure", "before", "after", title=f"{result['questions']} {result['from']}, held out")
    for name, values in result["measures"].items():
        table.add_row(name, *("–" if value is None else f"{value:.3f}" for value in values.values()))
    out.print(table)
    path = result["kept"]
    out.print(f"kept in {path}; the next start reads it" if path else "not kept: the outcome would be worse")
    if result["reranker"]:
        out.print("the reranker's scale is kept")


async def _from_headings(container: AppContainer) -> Samples:
    chunks = [
        chunk_from_payload(point.chunk_id, {"metadata": point.metadata})
        async for page in container.store.apoints()
        for point in page
    ]
    questions = _enough(heading_questions(chunks), "headings, or a file of questions,")
    with progress("asking", "questions", 2 * len(questions)) as show:
        return await heading_samples(questions, container.store, container.embedding.embeddings, OnnxReader(), show)


async def _from_questions(container: AppContainer, questions: list[EvalQuestion]) -> tuple[Samples, ScoreScale | None]:
    """Collect samples of *questions*, and fit the scale of the reranker, if one is chosen."""
    labelled = [await _labelled(container, question, number) for number, question in enumerate(questions)]
    usable = _enough([question for question in labelled if question], "questions whose right chunk is stored")
    grader = container.ports.grader
    scale = await _fit_scale(grader, container.collections, usable) if isinstance(grader, RerankGrader) else None
    with progress("asking", "questions", len(usable)) as show:
        return await collect(container.collections, usable, OnnxReader(), show), scale


def _enough(questions: list[Labelled], what: str) -> list[Labelled]:
    """Return *questions*. Raises ``InvalidInput`` where they are too few."""
    if len(questions) < MIN_QUESTIONS:
        raise InvalidInput(f"{MIN_QUESTIONS} {what} are needed, not {len(questions)}.", "questions")
    return questions


async def _labelled(container: AppContainer, question: EvalQuestion, number: int) -> Labelled | None:
    """Label *question* with its gold chunks, or the first retrieved one that holds its answer."""
    gold = list(question.gold_chunks)
    if question.answerable and not gold:
        accepted = [folded(answer) for part in question.answers for answer in part]
        _, retrieved = await retrieve(container.collections, question.question)
        gold = [
            chunk.chunk_id
            for chunk in retrieved[0].chunks
            if question.is_gold(chunk) and (not accepted or any(answer in folded(chunk.text) for answer in accepted))
        ][:1]
    if question.answerable and not gold:
        return None
    documents = frozenset(chunk_id.partition("#")[0] for chunk_id in gold)
    group = min(documents, default=f"without document, {number // 10}")  # neighbours may come from one article
    return Labelled(question.question, question.answerable, frozenset(gold), documents, group)


async def _fit_scale(grader: RerankGrader, retriever: Retriever, questions: list[Labelled]) -> ScoreScale:
    """Regress "of the right document" on the scores' log-odds, as *grader* scales them.

    Raises ``InvalidInput`` when the scores tell nothing.
    """
    scores, right, weights = [], [], []
    for question in questions:
        for chunk in await grader.grade(*await retrieve(retriever, question.text)):
            scores.append([log_odds_of(chunk.relevance or 0.0)])
            right.append(chunk.chunk_id in question.chunks or chunk.document_id in question.documents)
            weights.append(RELEVANT_WEIGHTS[0 if chunk.chapter or chunk.section else 1])
    try:
        fitted, bias = fit_logistic(np.array(scores), np.array(right), np.array(weights))
        weight = float(fitted[0])
    except ValueError:  # all right, or all wrong
        weight, bias = 0.0, 0.0
    if weight <= 0.0:
        raise InvalidInput("The reranker's scores do not tell right chunks from wrong ones.", "questions")
    now = grader.scale
    return ScoreScale(round(bias + weight * now.bias, 4), round(weight * now.weight, 4))
