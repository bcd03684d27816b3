"""Compare services: the same questions in rounds that take turns, so that a slow minute hits all."""

from __future__ import annotations

import math
import sys
import tempfile
from argparse import Namespace
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import httpx
import uvloop

from bench.corpus import make_corpus
from bench.index import Indexes
from bench.load import Outcome, Round, percentile, run_round
from bench.process import Measured, environment, free_port, size_mb
from bench.services import ROOT, Service

STREAMS = 40
"""Streamed questions at each latency, over all rounds."""
WARM_UP_SECONDS = 3.0
Figures = dict[str, Any]


@dataclass(slots=True)
class Running:
    """A service that is being measured, and what was found."""

    service: Service
    port: int
    process: Measured
    figures: Figures
    asked: int = 0
    rounds: dict[tuple[int, int], list[Figures]] = field(default_factory=lambda: defaultdict(list))
    first_tokens: dict[int, list[float]] = field(default_factory=lambda: defaultdict(list))


class Comparison:
    """The rounds over a corpus that the command's options ask for."""

    def __init__(self, options: Namespace, services: Sequence[Service]) -> None:
        self._options = options
        self._services = services
        self._corpus = make_corpus(options.chunks, options.questions)
        self._indexes = Indexes(options.cache, self._corpus, options.envs)
        self._model_url = f"http://127.0.0.1:{free_port()}"
        self._ends = ExitStack()

    def run(self) -> Figures:
        """Measure everything; return the figures."""
        with self._ends:
            work = Path(self._ends.enter_context(tempfile.TemporaryDirectory(prefix="garden-bench-")))
            command = [sys.executable, "-m", "bench.model_peer", self._model_url.rpartition(":")[2]]
            peer = Measured(command, environment(), work / "model.log", ROOT)
            self._ends.callback(peer.stop)
            peer.wait_for(f"{self._model_url}/control", "{}")
            running = [self._start(service, work) for service in self._services]
            self._rounds(running)
            for run in running:
                run.figures["memory after the rounds, MB"] = run.process.memory_mb()
        size = {"chunks": len(self._corpus.rows), "questions": len(self._corpus.questions)}
        return {"corpus": size, "services": {run.service.name: result_of(run) for run in running}}

    def _start(self, service: Service, work: Path) -> Running:
        """Start the service as often as the plan says; the last one stays, the quickest start counts."""
        python, folder = service.python(self._options.envs), self._indexes.copy(service, work)
        env, question = service.environment(self._model_url, folder), service.requests(self._corpus.questions[:1])[0]
        starts = []
        for turn in range(self._options.starts):
            port = free_port()
            command, log = service.serve_command(python, folder, port), work / f"{service.name}.log"
            process = Measured(command, env, log, service.checkout)
            self._ends.callback(process.stop)
            url = f"http://127.0.0.1:{port}{service.path}"
            starts.append(process.wait_for(url, question))
            if turn < self._options.starts - 1:
                process.stop()
        code = [service.checkout / name for name in ("app", "graph", "prompts")] if service.is_ours else []
        figures = {
            "installed, MB": size_mb(python.parent.parent, *code),
            "start to first answer, s": min(starts),
            "memory when idle, MB": process.memory_mb(),
        }
        print(f"{service.name}: first answer after {min(starts):.1f} s", flush=True)
        return Running(service, port, process, figures)

    def _rounds(self, running: Sequence[Running]) -> None:
        """Ask every service at one load, then at the next; the order shifts from round to round."""
        options = self._options
        for run in running:
            self._ask(run, 8, WARM_UP_SECONDS)
        for turn in range(options.rounds):
            order = [running[(at + turn) % len(running)] for at in range(len(running))]
            for latency in options.latency:
                self._control(latency_ms=latency)
                for concurrency in options.concurrency:
                    for run in order:
                        run.rounds[latency, concurrency].append(self._ask(run, concurrency, options.seconds))
                for run in order:
                    run.first_tokens[latency] += self._stream(run, max(1, STREAMS // options.rounds))
            print(f"round {turn + 1} of {options.rounds} done", flush=True)

    def _control(self, **settings: int) -> int:
        """Set the model's latency; return how often it has been called."""
        return int(httpx.post(f"{self._model_url}/control", json=settings).json()["calls"])

    def _ask(self, run: Running, concurrency: int, seconds: float) -> Figures:
        """Run one round; it goes on with the questions where the service's last one ended."""
        bodies = run.service.requests(self._corpus.questions)
        round_ = Round(run.port, run.service.path, bodies, concurrency, seconds, run.asked, answered="[1]")
        calls, cpu = self._control(), run.process.cpu_seconds()
        outcome = uvloop.run(run_round(round_))
        run.asked += outcome.asked
        return figures_of(outcome, run.process.cpu_seconds() - cpu, self._control() - calls)

    def _stream(self, run: Running, count: int) -> list[float]:
        """Measure milliseconds to the first token, one question at a time."""
        bodies = run.service.requests(self._corpus.questions, stream=True)
        round_ = Round(run.port, run.service.stream_path, bodies, 1, 3600.0, run.asked, count, run.service.first)
        run.asked += count
        return uvloop.run(run_round(round_)).firsts


def result_of(one: Running) -> Figures:
    """Collect what was found of a service."""
    loads = ({"model latency, ms": at, "concurrency": n, **pooled(several)} for (at, n), several in one.rounds.items())
    firsts = {f"first token p50, ms, model {at} ms": percentile(times, 50) for at, times in one.first_tokens.items()}
    return {**one.figures, **firsts, "rounds": list(loads)}


def figures_of(outcome: Outcome, cpu_seconds: float, model_calls: int) -> Figures:
    """Compute one round's figures; processor time and model calls are shared out over refused requests too."""
    asked = max(1, outcome.asked)
    return {
        "times": outcome.times,
        "answers a second": len(outcome.times) / outcome.seconds,
        "CPU ms a question": cpu_seconds * 1000 / asked if outcome.times else math.nan,
        "model calls a question": model_calls / asked,
        "answered": outcome.answered / max(1, len(outcome.times)),
        "turned away": outcome.turned_away,
        "errors": outcome.errors,
    }


def pooled(rounds: Sequence[Figures]) -> Figures:
    """Pool rounds: percentiles over all answers, the median of rates, the sum of what failed."""
    times = [time for each_round in rounds for time in each_round["times"]]
    rates = ("answers a second", "CPU ms a question", "model calls a question", "answered")
    return {
        "answers": len(times),
        **{f"p{percent}": percentile(times, percent) for percent in (50, 95, 99)},
        **{name: median(each_round[name] for each_round in rounds) for name in rates},
        **{name: sum(each_round[name] for each_round in rounds) for name in ("turned away", "errors")},
    }
