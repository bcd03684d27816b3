"""Measure what a question costs as the collection grows, by chunks with a real one's words and noisy vectors."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import psutil

from app.bootstrap.compose import build_container
from app.ingest.pipeline import ingest_into
from app.pipeline.retriever import POOL
from app.providers.embeddings.vectors import Vectors, unit
from app.providers.stores.hybrid import HybridQuery
from app.providers.stores.layout import Point
from app.settings import Settings, load_settings
from bench.corpus import make_corpus
from bench.load import percentile
from bench.process import size_mb
from bench.report import Titled, number

BASE = 500  # real chunks
WARM_UP, QUESTIONS = 10, 100
NEAR, FAR = 0.4, 0.9
"""Cosines of a grown chunk's vector with the real one's."""


async def measure_scale(sizes: Sequence[int]) -> list[dict[str, float]]:
    """Grow one collection through *sizes*; return a row of figures for each."""
    corpus, rows = make_corpus(BASE, WARM_UP + QUESTIONS), []
    with tempfile.TemporaryDirectory(prefix="garden-scale-") as folder:
        file, settings = Path(folder, "corpus.jsonl"), load_settings(data_dir=Path(folder, "data"), log_level="ERROR")
        corpus.write(file)
        points: list[Point] = []
        for size in sorted(sizes):
            container = build_container(settings)
            if not points:
                await ingest_into(container.writer, [file])
                points = [point async for page in container.store.apoints() for point in page]
            row = {"chunks": size, **await grow(container.store, points, size)}
            await container.aclose()
            row["disk, MB"] = size_mb(settings.data_dir)
            with ProcessPoolExecutor(1, get_context("spawn")) as fresh:  # whose memory the growing left nothing in
                rows.append(row | fresh.submit(measure_questions, settings, corpus.questions).result())
            print(f"{size:,} chunks measured", flush=True)
    return rows


async def grow(store: Any, points: Sequence[Point], size: int) -> dict[str, float]:
    """Write further chunks until there are *size*, and let the store build its indexes."""
    there = await store.acount()
    rng, writing = np.random.default_rng(there), 0.0
    for start in range(there, size, 512):
        batch = [grown(points[at % len(points)], at, rng) for at in range(start, min(start + 512, size))]
        begun = time.perf_counter()
        await store.aupsert(batch)
        writing += time.perf_counter() - begun
    begun = time.perf_counter()
    await store.aoptimize()
    rate = (size - there) / writing if writing else float("nan")
    return {"written a second, chunks": rate, "indexing at the end, s": time.perf_counter() - begun}


def grown(real: Point, at: int, rng: np.random.Generator) -> Point:
    """Make a chunk with *real*'s words, vectors near its own, and ids of its own, eight chunks a document."""
    document = f"grown-{at // 8}.md"
    vectors = noisy(np.vstack([real.dense[None], real.sentences]), rng.uniform(NEAR, FAR), rng)
    metadata = real.metadata | {"chunk_id": f"grown-{at}", "document_id": document, "source": document}
    return replace(real, chunk_id=f"grown-{at}", metadata=metadata, dense=vectors[0], sentences=vectors[1:])


def noisy(rows: Vectors, cosine: float, rng: np.random.Generator) -> Vectors:
    """Make unit rows at about *cosine* from the given ones."""
    noise = unit(rng.standard_normal(rows.shape, dtype=np.float32))
    return unit(cosine * rows + np.sqrt(1 - cosine**2) * noise)


def measure_questions(settings: Settings, questions: Sequence[str]) -> dict[str, float]:
    """Open the collection and measure it."""
    return asyncio.run(_measure_questions(settings, questions))


async def _measure_questions(settings: Settings, questions: Sequence[str]) -> dict[str, float]:
    """Ask new questions; then compute what a search by vector alone finds."""
    container, times, cpu = build_container(settings), [], 0.0
    for asked, question in enumerate(questions):
        begun, before = time.perf_counter(), time.process_time()
        await container.service.ask({"query": question})
        if asked >= WARM_UP:
            times.append((time.perf_counter() - begun) * 1000)
            cpu += (time.process_time() - before) * 1000
    memory = psutil.Process().memory_info()
    stored = [(point.chunk_id, point.dense) async for page in container.store.apoints() for point in page]
    names, dense = [name for name, _ in stored], np.stack([vector for _, vector in stored])
    shares = []
    for vector in np.array(await container.embedding.embeddings.aembed_documents(list(questions)), np.float32):
        nearest = {names[at] for at in np.argsort(-(dense @ vector))[:POOL]}
        hits = await container.store.ahybrid([HybridQuery(vector, ())], POOL)
        shares.append(len(nearest & {candidate.chunk.chunk_id for candidate in hits.candidates[0]}) / len(nearest))
    await container.aclose()
    return {
        "question, p50 ms": percentile(times, 50),
        "question, p95 ms": percentile(times, 95),
        "question, CPU ms": cpu / len(times),
        f"of the {POOL} nearest, found": float(np.mean(shares)),
        "memory, private, MB": (memory.rss - memory.shared) / 2**20,  # RssAnon of /proc/PID/status
        "memory, mapped, MB": memory.shared / 2**20,  # RssFile + RssShmem
    }


def scale_tables(rows: Sequence[dict[str, float]]) -> list[Titled]:
    """Make one table of the sizes side by side."""
    heads = ["", *(f"{row['chunks']:,}" for row in rows)]
    body = [[what, *(number(row[what]) for row in rows)] for what in rows[0] if what != "chunks"]
    return [("extractive answers, one question at a time, by chunks", [heads, *body])]
