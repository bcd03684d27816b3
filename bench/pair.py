"""``make bench ARGS="pair --other DIR"``: this checkout and another of this project, block by block in turns.

What a change gains is a few in a hundred, and a machine's mood shifts by more than that from minute to minute. So both
serve copies of one index at the same time, each block of questions goes to one and then to the other, and what is told
is the median of the blocks' ratios. Both run in the environment of this checkout.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

import httpx

from app.providers.embeddings.weights import find_weights
from bench.corpus import make_corpus
from bench.index import Indexes
from bench.load import LoadClient, Round, percentile
from bench.process import Measured, environment, free_port
from bench.report import number, show
from bench.services import OURS, ROOT, Place

WHAT = ("p50, ms", "p95, ms", "answers a second", "CPU ms a question")


def main(arguments: Sequence[str]) -> None:
    """Measure and print one table for each number of questions in flight."""
    options = argparse.ArgumentParser(prog="bench pair", description=__doc__)
    options.add_argument("--other", type=Path, required=True, help="the other checkout's folder")
    options.add_argument("--blocks", type=int, default=10)
    options.add_argument("--block", type=int, default=80, help="questions of a block; many for many in flight")
    options.add_argument("--concurrency", default="1,8", help="questions in flight, with commas")
    options.add_argument("--latency", type=int, default=0, help="the model's, in ms")
    options.add_argument("--cache", type=Path, default=Path(__file__).parent / ".cache")
    options.add_argument("--envs", type=Path, default=Path(__file__).parent / ".envs")
    chosen = options.parse_args(arguments)
    with ExitStack() as ends:
        pair = Pair(ends, chosen.other.resolve(), chosen.cache, chosen.envs, chosen.latency)
        for concurrency in map(int, chosen.concurrency.split(",")):
            rows = pair.rows(concurrency, chosen.blocks, chosen.block)
            show([(f"{concurrency} at once, {chosen.blocks} blocks", rows)])


class Pair:
    """Both services, running."""

    def __init__(self, ends: ExitStack, other: Path, cache: Path, envs: Path, latency: int) -> None:
        work = Path(ends.enter_context(tempfile.TemporaryDirectory(prefix="garden-pair-")))
        corpus = make_corpus()
        self._bodies = OURS.requests(corpus.questions)
        self._load = LoadClient()
        ends.callback(self._load.close)
        python, model = OURS.python(envs), free_port()
        peer = Measured([sys.executable, "-m", "bench.model_peer", str(model)], environment(), work / "model.log", ROOT)
        ends.callback(peer.stop)
        peer.wait_for(f"http://127.0.0.1:{model}/control", {})
        place = Place(python, find_weights(), f"http://127.0.0.1:{model}")
        indexes = Indexes(cache, corpus)
        indexes.of(OURS, place)
        self._services: list[tuple[int, Measured]] = []
        for name, root in (("other", other), ("this", ROOT)):
            folder, port = indexes.copy(OURS, place, work / name), free_port()
            env = OURS.environment(place, folder) | {"PYTHONPATH": str(root)}
            service = Measured(OURS.serve_command(python, folder, port), env, work / f"{name}.log", root)
            ends.callback(service.stop)
            service.wait_for(f"http://127.0.0.1:{port}{OURS.path}", json.loads(self._bodies[0]))
            self._services.append((port, service))
            self._block(port, service, 4, len(self._bodies), 0)
        httpx.post(f"{place.model_url}/control", json={"latency_ms": latency})

    def rows(self, concurrency: int, blocks: int, block: int) -> list[list[str]]:
        """The table: medians of both, and of the blocks' ratios."""
        found: tuple[list[list[float]], list[list[float]]] = [], []
        for turn in range(blocks):
            for at in (0, 1) if turn % 2 else (1, 0):
                found[at].append(self._block(*self._services[at], concurrency, block, turn * block))
        rows = [["", "other", "this", "this / other"]]
        for at, what in enumerate(WHAT):
            before, after = ([figures[at] for figures in side] for side in found)
            ratio = median(b / a for a, b in zip(before, after, strict=True))
            rows.append([what, number(median(before)), number(median(after)), f"{ratio:.2f}"])
        return rows

    def _block(self, port: int, service: Measured, concurrency: int, requests: int, offset: int) -> list[float]:
        cpu = service.cpu_seconds()
        outcome = self._load.run(Round(port, OURS.path, self._bodies, concurrency, 3600.0, offset, requests))
        if len(outcome.times) < requests:
            raise SystemExit(f"{requests - len(outcome.times)} of {requests} questions were not answered")
        spent = (service.cpu_seconds() - cpu) * 1000 / requests
        rate = requests / outcome.seconds
        return [percentile(outcome.times, 50), percentile(outcome.times, 95), rate, spent]
