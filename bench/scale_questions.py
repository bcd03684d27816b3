"""What questions cost a collection, beside what the same questions cost the smallest one, asked in turns."""

from __future__ import annotations

import gc
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import psutil

from app.bootstrap.compose import AppContainer
from app.pipeline.retriever import POOL
from app.providers.embeddings.vectors import Vectors
from app.providers.stores.bm25 import dimension
from app.providers.stores.embedded import EmbeddedStore
from app.providers.stores.filters import Where, conditions
from app.providers.stores.hybrid import HybridQuery
from app.providers.stores.rows import allowed
from app.providers.stores.segments import current
from bench.corpus import Corpus
from bench.grown import HALF
from bench.load import percentile
from graph.terms import question_stems

WARM_UP = 10
QUESTIONS = 100
"""For each of three sets."""
ALL_QUESTIONS = WARM_UP + 3 * QUESTIONS
TURN = 10
"""Questions that one collection is asked before the other's turn."""

Ask = Callable[[str], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Way:
    """A way of asking: what is asked of a garden, the questions that count, and those before them."""

    name: str
    ask: Callable[[AppContainer], Ask]
    questions: Sequence[str]
    before: Sequence[str]


@dataclass(frozen=True, slots=True)
class Asked:
    """What came of asking questions one after another. Milliseconds."""

    p50: float
    p95: float
    cpu: float


async def measure_questions(container: AppContainer, beside: AppContainer, corpus: Corpus) -> dict[str, float]:
    """Whole questions, without a filter and with one, and the search alone; *beside* is asked the same in turns.

    The vectors of the first hundred questions are there before they are asked, those of the other two hundred are not.
    The first way meets every candidate for the first time, the later ones find some of them decoded.
    """
    warm_up, known, new, new_too = (
        corpus.questions[begin:end]
        for begin, end in ((0, WARM_UP), *((WARM_UP + n * QUESTIONS, WARM_UP + (n + 1) * QUESTIONS) for n in range(3)))
    )
    for one in (container, beside):
        vectors = await one.embedding.embeddings.aquestion_array(known)  # type: ignore[attr-defined]
    queries = {
        question: HybridQuery(vector, tuple(map(dimension, question_stems(question))))
        for question, vector in zip(known, vectors, strict=True)
    }

    def whole(source: str | None) -> Callable[[AppContainer], Ask]:
        return lambda one: lambda question: one.service.ask({"query": question, "source": source})

    def search(one: AppContainer) -> Ask:
        return lambda question: one.store.ahybrid([queries[question]], POOL)

    found: dict[str, float] = {}
    for way in (
        Way("question", whole(None), known, warm_up),
        Way("question, one document", whole(corpus.rows[0]["document_id"]), known, warm_up),
        Way("question, half", whole(HALF), known, warm_up),
        Way("new question", whole(None), new, warm_up),
        Way("new question, half", whole(HALF), new_too, warm_up),
        Way("search, candidates remembered", search, known, [*known, *known]),  # met a second time they are decoded
    ):
        here, there = await ask_in_turns([way.ask(container), way.ask(beside)], way.before, way.questions)
        found |= {f"{way.name}, p50 ms": here.p50, f"{way.name}, p95 ms": here.p95, f"{way.name}, CPU ms": here.cpu}
        found |= {f"{way.name}, p50 over the smallest's": here.p50 / there.p50}
        found |= {f"{way.name}, CPU over the smallest's": here.cpu / there.cpu}
    found["of the ten nearest, found"] = await measure_recall(container.store, list(vectors), None)
    found["of the ten nearest in half, found"] = await measure_recall(container.store, list(vectors), {"source": HALF})
    memory = psutil.Process().memory_info()
    found["memory, private, MB"] = (memory.rss - memory.shared) / 2**20
    found["memory, mapped from files, MB"] = memory.shared / 2**20
    return found


async def measure_recall(store: EmbeddedStore, vectors: Sequence[Vectors], where: Where) -> float:
    """The share of the ten nearest chunks of those that pass *where* that a search finds."""
    shares = []
    with store.database.reading() as connection:
        assert connection is not None
        view = current(connection, store.database.folder, None)
        passing = allowed(connection, conditions(where))
    assert view is not None
    for vector in vectors:
        near: list[tuple[float, int]] = []
        for segment, mask in view.parts.values():
            kept = np.flatnonzero(mask if passing is None else mask & np.isin(segment.ids, passing))
            near += zip(np.vecdot(segment.dense[kept], vector).tolist(), segment.ids[kept].tolist(), strict=True)
        there = {own for _, own in sorted(near, reverse=True)[:POOL]}
        shares.append(len(there & set(view.hybrid([HybridQuery(vector, ())], POOL, passing)[0][0][:POOL])) / len(there))
    return float(np.mean(shares))


async def ask_in_turns(asks: Sequence[Ask], before: Sequence[str], questions: Sequence[str]) -> list[Asked]:
    """Have each ask the questions one after another, a few at a time in turns; those *before* do not count."""
    for ask in asks:
        for question in before:
            await ask(question)
    gc.collect()
    gc.freeze()  # as ``garden serve`` does; else what the growing left behind is gone through again and again
    times: list[list[float]] = [[] for _ in asks]
    spent: list[list[float]] = [[] for _ in asks]
    for start in range(0, len(questions), TURN):
        order = range(len(asks)) if start // TURN % 2 else reversed(range(len(asks)))
        for place in order:
            for question in questions[start : start + TURN]:
                begun, cpu = time.perf_counter(), time.process_time()
                await asks[place](question)
                times[place].append((time.perf_counter() - begun) * 1000)
                spent[place].append((time.process_time() - cpu) * 1000)
    return [
        Asked(percentile(taken, 50), percentile(taken, 95), sum(cpus) / len(cpus))
        for taken, cpus in zip(times, spent, strict=True)
    ]
