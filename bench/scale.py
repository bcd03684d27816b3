"""``make bench ARGS=scale``: what a question costs as the collection grows, and what ingest costs beyond embedding.

The collection begins with real chunks and their real vectors, and is then grown (``bench/grown.py``). Sizes are
measured in one collection, in one process, from small to large; before each is measured the collection is closed and
opened, as by a server that starts with it.
Beside each a copy of the smallest is asked the same, in turns: minutes lie between two sizes, and machines change.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from app.bootstrap.compose import build_container
from app.cli.main import GC_THRESHOLDS
from app.settings import load_settings
from bench.corpus import make_corpus
from bench.grown import grow
from bench.process import size_mb
from bench.report import number, show
from bench.scale_ingest import measure_ingest
from bench.scale_questions import ALL_QUESTIONS, measure_questions

BASE = 500
"""Real chunks."""


def main(arguments: list[str]) -> None:
    """Measure, print, and write ``scale.json``."""
    options = argparse.ArgumentParser(prog="bench scale", description=__doc__)
    options.add_argument("--sizes", default="1000,10000,100000", help="chunks, with commas")
    options.add_argument(
        "--million", action="store_true", help="1,000,000 chunks as well: half an hour, and 12 GB of disk"
    )
    options.add_argument("--out", type=Path, default=Path(__file__).parent / "out")
    chosen = options.parse_args(arguments)
    gc.set_threshold(*GC_THRESHOLDS)
    sizes = sorted({*map(int, chosen.sizes.split(",")), *([1_000_000] if chosen.million else [])})
    with tempfile.TemporaryDirectory(prefix="garden-scale-") as folder:
        result = asyncio.run(measure(Path(folder), sizes))
    show(tables(result))
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / "scale.json").write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")


async def measure(folder: Path, sizes: Sequence[int]) -> dict[str, Any]:
    """Both parts: ingest over the real chunks, then questions at every size."""
    corpus = await asyncio.to_thread(make_corpus, BASE, ALL_QUESTIONS)
    file = folder / "corpus.jsonl"
    corpus.write(file)
    ingested, points = await measure_ingest(file, folder)
    settings = load_settings(data_dir=folder / "garden", log_level="ERROR")
    smallest = load_settings(data_dir=folder / "smallest", log_level="ERROR")
    grown, rows = len(points), []
    for size in sizes:
        container = build_container(settings)
        try:
            rows.append({"chunks": size, **await grow(container.store, points, grown, size)})
        finally:
            await container.aclose()
        grown = max(grown, size)
        rows[-1]["disk, MB"] = await asyncio.to_thread(size_mb, folder / "garden")
        if size == sizes[0]:
            await asyncio.to_thread(shutil.copytree, folder / "garden", folder / "smallest")
        begun = time.perf_counter()
        container = build_container(settings)
        rows[-1]["opened, s"] = time.perf_counter() - begun
        beside = build_container(smallest)
        try:
            rows[-1].update(await measure_questions(container, beside, corpus))
        finally:
            await container.aclose()
            await beside.aclose()
        print(f"{size:,} chunks measured", flush=True)
    return {"ingest": ingested, "sizes": rows}


def tables(result: dict[str, Any]) -> list[tuple[str, list[list[str]]]]:
    """Sizes side by side; then ingest."""
    rows = result["sizes"]
    heads = ["", *(f"{row['chunks']:,}" for row in rows)]
    body = [[what, *(number(row[what]) for row in rows)] for what in rows[0] if what != "chunks"]
    ingested = [["", ""], *([what, number(value)] for what, value in result["ingest"].items())]
    return [("extractive answers, one question at a time, by chunks", [heads, *body]), ("ingest", ingested)]
