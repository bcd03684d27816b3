"""Run `garden eval`: ask the questions of a file, and report what came back."""

from __future__ import annotations

import asyncio
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from html import escape
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from app.cli.evaluation.measures import Asked, measure, right_outcome
from app.cli.evaluation.questions import EvalQuestion, read_questions
from app.cli.ingest import file_progress
from app.cli.shared import OK, JsonFlag, open_container, print_json, progress
from app.ingest.pipeline import ingest_into
from app.query_service.service import QueryService
from app.settings import load_settings

AT_ONCE = 4
"""Questions in flight; more would only wait for the embedding model."""
BARS = ("hit@1", "hit@5", "right chunk passes", "precision of what passes", "abstention", "answer recall",
        "cited source right", "right outcome")  # fmt: skip
"""Rates that are drawn."""


def run_eval(
    questions: Annotated[list[Path], typer.Argument(help="question files: JSON Lines, or sample_queries.json")],
    corpus: Annotated[list[Path] | None, typer.Option(help="ingest these into a new collection first")] = None,
    picture: Annotated[Path | None, typer.Option(help="write an SVG chart to this file")] = None,
    as_json: JsonFlag = False,
) -> int:
    """Measure retrieval, relevance, answers, citations and abstention on question files."""
    asked = [question for path in questions for question in read_questions(path)]
    title = ", ".join("/".join(path.parts[-2:]) for path in questions)
    summary = asyncio.run(_evaluate(asked, corpus or []))
    if picture:
        write_picture(summary, title, picture)
    if as_json:
        print_json(summary)
    else:
        print_report(summary, title)
    return OK


async def _evaluate(questions: list[EvalQuestion], corpus: list[Path]) -> dict[str, Any]:
    with ExitStack() as ends:
        settings = load_settings()
        if corpus:
            folder = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="garden-eval-")))
            settings = load_settings(data_dir=folder, vector_store="embedded")
        async with open_container(settings) as container:
            if corpus:
                on_ingested = ends.enter_context(file_progress())
                await ingest_into(container.sink, corpus, on_progress=on_ingested)
            show = ends.enter_context(progress("asking", "questions", len(questions)))
            asked = await ask_all(container.service, questions, show)
            return summarise(asked, settings.relevance_threshold)


async def ask_all(
    service: QueryService, questions: Sequence[EvalQuestion], on_progress: Callable[[int], None] = lambda _: None
) -> list[Asked]:
    """Ask *questions* and return them with their results, in order."""
    slots = asyncio.Semaphore(AT_ONCE)
    done = 0

    async def one(question: EvalQuestion) -> Asked:
        nonlocal done
        async with slots:
            result = await service.ask({"query": question.question})
        done += 1
        on_progress(done)
        return Asked(question, result)

    return list(await asyncio.gather(*map(one, questions)))


def summarise(asked: Sequence[Asked], threshold: float) -> dict[str, Any]:
    """Collect measures, median stage times in ms, and the wrong outcomes."""
    stages: dict[str, list[float]] = defaultdict(list)
    for one in asked:
        for stage, ms in one.result.timings.items():
            stages[stage].append(ms)
    return {
        "measures": measure(asked, threshold),
        "stage_ms_p50": {stage: round(median(ms), 2) for stage, ms in stages.items()},
        "wrong": [
            {
                "id": one.question.id,
                "question": one.question.question,
                "answerable": one.question.answerable,
                "outcome": one.result.outcome,
                "cited": list(dict.fromkeys(c.source for c in one.result.citations)),
                "expected": list(one.question.gold_chunks or one.question.expected_sources),
                "answer": one.result.answer,
            }
            for one in asked
            if not right_outcome(one)
        ],
    }


def print_report(summary: dict[str, Any], title: str) -> None:
    """Print the measures, the stage times, and the first twenty wrong outcomes."""
    out = Console(highlight=False)
    table = Table("measure", "value", title=title)
    for name, value in summary["measures"].items():
        table.add_row(name, "–" if value is None else f"{value:g}")
    for stage, ms in summary["stage_ms_p50"].items():
        table.add_row(f"{stage}, ms (p50)", f"{ms:g}")
    out.print(table)
    for wrong in summary["wrong"][:20]:
        out.print(f"  {wrong['id']}: {wrong['question']} -> {wrong['outcome']} {wrong['cited']}", markup=False)


def write_picture(summary: dict[str, Any], title: str, path: Path) -> None:
    """Draw the rates as bars in an SVG."""
    rows = [(name, summary["measures"][name]) for name in BARS if summary["measures"][name] is not None]
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 540 {70 + 34 * len(rows)}"',
        ' font-family="system-ui,sans-serif" font-size="14">',
        f'<rect width="100%" height="100%" fill="#fff"/><text x="20" y="32" font-size="20">{escape(title)}</text>',
    ]
    for y, (name, value) in zip(range(56, 1000, 34), rows, strict=False):
        parts.append(
            f'<text x="20" y="{y + 16}">{escape(name)}</text>'
            f'<rect x="210" y="{y}" width="250" height="22" fill="#e6eee6"/>'
            f'<rect x="210" y="{y}" width="{250 * value:.1f}" height="22" fill="#3b7a4a"/>'
            f'<text x="470" y="{y + 16}">{value:.3f}</text>'
        )
    path.write_text("".join([*parts, "</svg>"]), encoding="utf-8")
