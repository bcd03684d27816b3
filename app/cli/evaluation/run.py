"""Run `garden eval`: ask the questions of a file, and report what came back."""

import asyncio
import io
import re
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer
from rich.bar import Bar
from rich.console import Console, Group
from rich.markup import escape
from rich.table import Table

from app.bootstrap.compose import AppContainer, build_container
from app.cli.evaluation import measures
from app.cli.evaluation.measures import EvalQuestion, EvalResult, read_questions
from app.cli.ingest import file_progress
from app.cli.shared import OK, JsonFlag, Show, print_json, progress, run_opened
from app.ingest.pipeline import ingest_into
from app.query_service.service import QueryService

AT_ONCE = 4
"""Questions in flight; more would only wait for the embedding model."""
BAR_CHARS = 30
"""Width of a bar that stands for 1."""


def run_eval(
    questions: Annotated[list[Path], typer.Argument(help="question files: JSON Lines, or sample_queries.json")],
    corpus: Annotated[list[Path] | None, typer.Option(help="ingest these into a new collection first")] = None,
    picture: Annotated[Path | None, typer.Option(help="write an SVG chart to this file")] = None,
    as_json: JsonFlag = False,
) -> int:
    """Measure retrieval, relevance, answers, citations and abstention on question files."""
    loaded = [question for path in questions for question in read_questions(path)]
    title = ", ".join("/".join(path.parts[-2:]) for path in questions)
    with tempfile.TemporaryDirectory(prefix="garden-eval-") as folder:
        overrides = {"data_dir": folder, "vector_store": "embedded"} if corpus else {}
        summary = run_opened(build_container, partial(_evaluate, loaded, corpus), **overrides)
    if as_json:
        print_json(summary)
    else:
        out = Console(highlight=False)
        out.print(report_tables(summary, title))
        for wrong in summary["wrong"][:20]:
            out.print(f"  {wrong['id']}: {wrong['question']} -> {wrong['outcome']} {wrong['cited']}", markup=False)
    if picture:
        picture.write_text(draw_report(summary, title), encoding="utf-8")
    return OK


async def _evaluate(
    questions: list[EvalQuestion], corpus: list[Path] | None, container: AppContainer
) -> dict[str, Any]:
    if corpus:
        with file_progress() as on_ingested:
            await ingest_into(container.writer, corpus, on_progress=on_ingested)
    with progress("asking", "questions", len(questions)) as show:
        results = await ask_all(container.service, questions, show)
    return summarise(results, container.settings.relevance_threshold)


async def ask_all(service: QueryService, questions: Sequence[EvalQuestion], show: Show) -> list[EvalResult]:
    """Ask *questions* and return them with their results, in order."""
    slots = asyncio.Semaphore(AT_ONCE)
    done = count(1)

    async def one(question: EvalQuestion) -> EvalResult:
        async with slots:
            result = await service.ask({"query": question.question})
        show(next(done))
        return EvalResult(question, result)

    return list(await asyncio.gather(*map(one, questions)))


def summarise(results: Sequence[EvalResult], threshold: float) -> dict[str, Any]:
    """Collect measures, median stage times in ms, and the wrong outcomes."""
    stages: dict[str, list[float]] = defaultdict(list)
    for evaluated in results:
        for stage, ms in evaluated.result.timings.items():
            stages[stage].append(ms)
    return {
        "measures": measures.measure(results, threshold),
        "reliability": [row._asdict() for row in measures.reliability(measures.confidences(results))[0]],
        "stage_ms_p50": {stage: round(median(ms), 2) for stage, ms in stages.items()},
        "wrong": [
            {
                "id": wrong.question.id,
                "question": wrong.question.question,
                "answerable": wrong.question.answerable,
                "outcome": wrong.result.outcome,
                "cited": list(dict.fromkeys(c.source for c in wrong.result.citations)),
                "expected": list(wrong.question.gold_chunks or wrong.question.expected_sources),
                "answer": wrong.result.answer,
            }
            for wrong in results
            if not measures.right_outcome(wrong)
        ],
    }


def report_tables(summary: dict[str, Any], title: str) -> Group:
    """Tabulate the measures, rates with a bar, and the stage times; then how often answers of a confidence are right.

    The second table has a bar each for stated and right.
    """
    rates = Table("measure", "value", "", title=escape(title))
    for name, value in summary["measures"].items():
        bar = Bar(1.0, 0.0, value, width=BAR_CHARS, color="green") if isinstance(value, float) else ""
        rates.add_row(name, "–" if value is None else f"{value:g}", bar)
    for stage, ms in summary["stage_ms_p50"].items():
        rates.add_row(f"{stage}, ms (p50)", f"{ms:g}")
    reliability = Table("confidence", "answers", "stated", "right", "", title="is confidence right?")
    for row in summary["reliability"]:
        bars = Group(
            Bar(1.0, 0.0, row["stated"], width=BAR_CHARS, color="blue"),
            Bar(1.0, 0.0, row["right"], width=BAR_CHARS, color="green"),
        )
        span = f"{row['least']:.2f}–{row['most']:.2f}"
        reliability.add_row(span, str(row["size"]), f"{row['stated']:.2f}", f"{row['right']:.2f}", bars)
    return Group(rates, reliability)


def draw_report(summary: dict[str, Any], title: str) -> str:
    out = Console(file=io.StringIO(), record=True, width=80)
    out.print(report_tables(summary, title))
    drawn = out.export_svg(title="garden eval")
    return re.sub(r"@font-face {.*?}", "", drawn, flags=re.DOTALL)  # no fonts from another host
