"""``garden calibrate``: fit relevance for your own garden, embedding model, reranker and questions.

The result goes to ``DATA_DIR/relevance_model.json``, which the next start reads; remove the file to go back.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.console import Console

from app.bootstrap import build_garden
from app.evaluation.crossvalidate import cross_validate, rates
from app.evaluation.fit import ANSWERS, LOST_ANSWER_WEIGHT, LOST_CHUNK_WEIGHT, READ, RELEVANCE, fit
from app.evaluation.fit_reranker import fit_scale
from app.evaluation.measures import folded, is_gold
from app.evaluation.questions import EvalQuestion, read_questions
from app.evaluation.samples import Samples, collect
from app.garden import Garden
from app.makers import make_rerank_grader
from app.progress import progress
from app.providers.reader import OnnxReader
from app.rerank_grading import AS_IT_IS, ScoreScale
from app.settings import Settings, load_settings
from graph.errors import InvalidInput
from graph.policy import MIN_CONFIDENCE
from graph.state import Question

LEAST_QUESTIONS = 50
"""Fewer questions than this are too few to fit a handful of weights to, five folds held out in turn."""


def run_calibrate(paths: list[Path], *, as_json: bool = False) -> int:
    """Fit to the questions of *paths*, asked of the garden as it is; print how well it holds, and keep it.

    Raises ``InvalidInput`` when there are too few questions, or too few whose right chunk the garden holds.
    """
    questions = [question for path in paths for question in read_questions(path)]
    if len(questions) < LEAST_QUESTIONS:
        raise InvalidInput(f"At least {LEAST_QUESTIONS} questions are needed, not {len(questions)}.", "questions")
    settings = load_settings()
    try:
        samples, model, scale = asyncio.run(_samples(settings, questions))
        entry = fit([samples])
    except ValueError as error:
        raise InvalidInput("The questions do not tell right chunks from wrong ones.", "questions") from error
    (held_out,) = cross_validate([samples], RELEVANCE, ANSWERS, READ, (LOST_CHUNK_WEIGHT, LOST_ANSWER_WEIGHT))
    path = settings.data_dir / "relevance_model.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"models": {}}
    known["models"][model] = entry
    if scale:
        known.setdefault("rerankers", {})[settings.reranking] = asdict(scale)
    path.write_text(json.dumps(known, indent=2) + "\n", encoding="utf-8")
    found = rates(samples, *held_out, MIN_CONFIDENCE)
    if as_json:
        sys.stdout.write(json.dumps({"rates": found, "kept": str(path)}, indent=2) + "\n")
        return 0
    out = Console(highlight=False, soft_wrap=True)
    for name, value in found.items():
        out.print(f"{name}: {value:.3f}")
    out.print(f"kept in {path}; the next start reads it")
    return 0


async def _samples(settings: Settings, questions: list[EvalQuestion]) -> tuple[Samples, str, ScoreScale | None]:
    """The samples, the embedding model's name, and the scale of the reranker's scores, where there is one."""
    named = settings.reranking not in ("local", "none")
    grader = make_rerank_grader(settings, AS_IT_IS) if named else None
    garden = build_garden(settings, grader=grader)
    try:
        rows = []
        with progress("asking", "questions") as show:
            for done, question in enumerate(questions, 1):
                rows.append(await _row(garden, question))
                show(done, len(questions), "")
        known = [row for row in rows if row["gold_chunk"] or not row["answerable"]]
        if len(known) < LEAST_QUESTIONS:
            raise InvalidInput("The garden holds the right chunks of too few of these questions.", "questions")
        scale = await fit_scale(grader, garden.retriever, known) if grader else None
        return await collect(garden.retriever, known, OnnxReader()), garden.embedding.name, scale
    finally:
        await garden.aclose()


async def _row(garden: Garden, question: EvalQuestion) -> dict[str, Any]:
    """The row ``collect`` wants, with the chunk the question is about: as given, or the one that holds its answer."""
    now = time.monotonic()
    asked = Question(question.question, (question.question,), 1, None, None, now, now + 60)
    found = (await garden.retriever.retrieve(asked)).readings[0].chunks
    gold = next(iter(question.gold_chunks), None)
    if gold is None:
        wanted = [folded(one) for part in question.answers for one in part]
        gold = next(
            (
                chunk.chunk_id
                for chunk in found
                if is_gold(question, chunk.chunk_id, chunk.document_id, chunk.source)
                and (not wanted or any(one in folded(chunk.text) for one in wanted))
            ),
            None,
        )
    return {
        "question": question.question,
        "answerable": question.answerable,
        "gold_chunk": gold,
        "gold_document": gold.partition("#")[0] if gold else None,
        "answers": [one for part in question.answers for one in part],
        "gold_sentences": list(question.gold_sentences),
        "source": 0,
    }
