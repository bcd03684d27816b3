"""A closed loop over HTTP against a freshly started service: latency, throughput, CPU a question, memory, start.

``python -m bench [--questions FILE] [--seconds N]``. Client and server share the machine, so figures of two runs do
not compare; ratios within one run do. The service answers from the sample garden, by the extractive synthesizer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import quantiles
from typing import Any

import httpx
import psutil
from rich.console import Console
from rich.table import Table

ROOT = Path(__file__).parent.parent
CONCURRENCY = (1, 8, 32)


def main() -> None:
    """Measure and print a table; ``--json FILE`` keeps the figures."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--questions", type=Path, default=ROOT / "knowledge" / "questions.jsonl")
    options.add_argument("--seconds", type=float, default=8.0, help="length of each round")
    options.add_argument("--json", type=Path)
    chosen = options.parse_args()
    questions = [json.loads(line)["question"] for line in chosen.questions.read_text().splitlines() if line.strip()]
    with tempfile.TemporaryDirectory(prefix="garden-bench-") as folder:
        subprocess.run([*garden(), "ingest", *samples()], env=environment(folder), check=True)
        process, base, start = serve(folder)
        try:
            rows = [asyncio.run(measure(process, base, questions, n, chosen.seconds)) for n in CONCURRENCY]
            idle = psutil.Process(process.pid).memory_info().rss / 2**20
        finally:
            process.terminate()
            process.wait(30)
    figures = {"start to first answer, s": round(start, 2), "memory after the rounds, MB": round(idle), "rounds": rows}
    show(figures)
    if chosen.json:
        chosen.json.write_text(json.dumps(figures, indent=2))


def garden() -> list[str]:
    """The command, in this interpreter."""
    return [sys.executable, "-m", "app.cli"]


def samples() -> list[str]:
    """The sample documents."""
    kinds = (".md", ".html", ".txt", ".rst", ".pdf")
    return sorted(str(path) for path in (ROOT / "knowledge").iterdir() if path.suffix in kinds)


def environment(folder: str) -> dict[str, str]:
    """Nothing of the caller's settings, but where the data lies and that logs are quiet."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    return {**kept, "DATA_DIR": folder, "LOG_LEVEL": "ERROR"}


def serve(folder: str) -> tuple[subprocess.Popen[bytes], str, float]:
    """Start the service on a free port; return it, its address, and the seconds to its first answer."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
    begun = time.perf_counter()
    command = [*garden(), "serve", "--port", str(port)]
    process = subprocess.Popen(command, env=environment(folder), stdout=subprocess.DEVNULL, cwd=ROOT)
    base = f"http://127.0.0.1:{port}"
    while process.poll() is None:
        try:
            httpx.post(f"{base}/query", json={"query": "What is Knowledge Garden?"}, timeout=30).raise_for_status()
        except httpx.HTTPError:
            time.sleep(0.02)
        else:
            return process, base, time.perf_counter() - begun
    raise SystemExit("the service did not start")


async def measure(
    process: subprocess.Popen[bytes], base: str, questions: list[str], concurrency: int, seconds: float
) -> dict[str, Any]:
    """Keep *concurrency* questions in flight for *seconds*; times in ms."""
    times: list[float] = []
    turned_away = 0
    until = time.perf_counter() + seconds
    server = psutil.Process(process.pid)
    before = sum(server.cpu_times()[:2])

    async def client(session: httpx.AsyncClient, offset: int) -> None:
        nonlocal turned_away
        place = offset
        while time.perf_counter() < until:
            begun = time.perf_counter()
            answer = await session.post("/query", json={"query": questions[place % len(questions)]})
            if answer.status_code == httpx.codes.OK:
                times.append((time.perf_counter() - begun) * 1000)
            else:
                turned_away += 1
            place += concurrency

    async with httpx.AsyncClient(base_url=base, timeout=60) as session:
        await asyncio.gather(*(client(session, n) for n in range(concurrency)))
    cuts = quantiles(times, n=100)
    return {
        "concurrency": concurrency,
        "p50": round(cuts[49], 1),
        "p95": round(cuts[94], 1),
        "p99": round(cuts[98], 1),
        "questions a second": round(len(times) / seconds, 1),
        "CPU ms a question": round((sum(server.cpu_times()[:2]) - before) * 1000 / len(times), 1),
        "turned away": turned_away,
    }


def show(figures: dict[str, Any]) -> None:
    """Print the table."""
    table = Table(*figures["rounds"][0], title="one question, ms")
    for row in figures["rounds"]:
        table.add_row(*map(str, row.values()))
    out = Console()
    out.print(table)
    for name, value in figures.items():
        if name != "rounds":
            out.print(f"{name}: {value}")


if __name__ == "__main__":
    main()
