"""``garden eval``: a corpus or the garden as it is, a question file, and what came of it."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path
from typing import Any

import orjson

from app.bootstrap.compose import build_container
from app.cli.evaluation.questions import EvalQuestion, read_questions
from app.cli.evaluation.report import print_report, write_picture
from app.cli.evaluation.run import ask_all, summarise
from app.cli.progress import progress
from app.ingest.pipeline import ingest
from app.settings import Settings, load_settings


def run_eval(
    questions: list[Path], corpus: list[Path], *, as_json: bool, picture: Path | None, max_sources: int | None
) -> int:
    """Ask the questions of the garden, or of a fresh one planted from *corpus*; print, and draw if asked."""
    asked = [question for path in questions for question in read_questions(path)]
    title = ", ".join("/".join(path.parts[-2:]) for path in questions)
    summary = asyncio.run(_evaluate(asked, corpus, max_sources))
    if picture:
        write_picture(summary, title, picture)
    if as_json:
        sys.stdout.buffer.write(orjson.dumps(summary, option=orjson.OPT_INDENT_2) + b"\n")
    else:
        print_report(summary, title)
    return 0


async def _evaluate(questions: list[EvalQuestion], corpus: list[Path], max_sources: int | None) -> dict[str, Any]:
    if not corpus:
        return await _ask(load_settings(), questions, [], max_sources)
    with tempfile.TemporaryDirectory(prefix="garden-eval-") as folder:
        settings = load_settings(data_dir=Path(folder), vector_store="embedded")
        return await _ask(settings, questions, corpus, max_sources)


async def _ask(
    settings: Settings, questions: list[EvalQuestion], corpus: list[Path], max_sources: int | None
) -> dict[str, Any]:
    container = build_container(settings)
    try:
        if corpus:
            with progress("planting", "files") as show:
                await ingest(
                    corpus,
                    store=container.store,
                    embeddings=container.embedding.embeddings,
                    model_name=container.embedding.name,
                    on_progress=lambda done: show(done.files_read, done.files, f", {done.chunks} chunks"),
                )
        with progress("asking", "questions") as show:
            asked = await ask_all(
                container.service,
                questions,
                max_sources=max_sources,
                on_progress=lambda done: show(done, len(questions), ""),
            )
        return summarise(asked, settings.relevance_threshold)
    finally:
        await container.aclose()
