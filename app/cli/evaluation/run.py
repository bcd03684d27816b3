"""Ask every question of a file, and keep what came back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

from app.cli.evaluation.measures import Asked, measure, right_outcome
from app.cli.evaluation.questions import EvalQuestion
from app.query_service.service import QueryService

AT_ONCE = 4
"""Questions in flight; more would only wait for the embedding model."""


async def ask_all(
    service: QueryService,
    questions: Sequence[EvalQuestion],
    *,
    max_sources: int | None = None,
    on_progress: Callable[[int], None] | None = None,
) -> list[Asked]:
    """Ask *questions* and return them with their results, in order."""
    places = asyncio.Semaphore(AT_ONCE)
    done = 0

    async def one(question: EvalQuestion) -> Asked:
        nonlocal done
        async with places:
            result = await service.ask({"query": question.question, "maxSources": max_sources})
        done += 1
        if on_progress:
            on_progress(done)
        return Asked(question, result)

    return list(await asyncio.gather(*map(one, questions)))


def summarise(asked: Sequence[Asked], threshold: float) -> dict[str, Any]:
    """Measures, median stage times in ms, the confidence curve, and the questions that went wrong."""
    stages: dict[str, list[float]] = {}
    for one in asked:
        for stage, ms in one.result.timings.items():
            stages.setdefault(stage, []).append(ms)
    return {
        "measures": measure(asked, threshold),
        "stage_ms_p50": {stage: round(median(ms), 2) for stage, ms in stages.items()},
        "reliability": reliability(asked),
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


def reliability(asked: Sequence[Asked], bins: int = 10) -> list[dict[str, float | int]]:
    """Per bin of confidence: how many answers, the mean confidence stated, and the share that was right."""
    rows: list[dict[str, float | int]] = []
    answered = [one for one in asked if one.result.answered]
    for low in range(bins):
        inside = [one for one in answered if min(bins - 1, int(one.result.confidence * bins)) == low]
        if inside:
            right = sum(one.question.answerable and one.right_source for one in inside)
            stated = sum(one.result.confidence for one in inside) / len(inside)
            rows.append({"answers": len(inside), "stated": round(stated, 3), "right": round(right / len(inside), 3)})
    return rows
