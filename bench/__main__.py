"""Measure the service: beside four peers, at growing sizes (`scale`), or beside another checkout (`pair`)."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

from bench.compare import Comparison
from bench.corpus import CHUNKS, QUESTIONS
from bench.report import tables, write
from bench.scale import measure_scale, scale_tables
from bench.services import SERVICES

HERE = Path(__file__).parent


def main() -> None:
    """Run what the arguments ask for; print the tables and write them to the output folder."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that what was started is stopped
    chosen = options().parse_args()
    if chosen.what == "scale":
        result = {"sizes": asyncio.run(measure_scale(chosen.sizes))}
        report = scale_tables(result["sizes"])
    else:
        services = {service.name: service for service in SERVICES}
        if chosen.what == "pair":
            other = replace(SERVICES[0], name="other", checkout=chosen.other.resolve())
            services = {"ours": replace(SERVICES[0], workers=chosen.workers), "other": other}
        if unknown := set(chosen.only or ()) - set(services):
            raise SystemExit(f"no service {', '.join(unknown)}; there are {', '.join(services)}")
        result = Comparison(chosen, [services[name] for name in chosen.only or services]).run()
        report = tables(result)
    write(result, report, HERE / "out", chosen.what)


def options() -> argparse.ArgumentParser:
    """Define what may be asked for."""
    parser = argparse.ArgumentParser(prog="bench", description=__doc__)
    parser.add_argument("what", nargs="?", default="compare", choices=("compare", "scale", "pair"))
    parser.add_argument("--only", type=lambda text: text.split(","), help="services, with commas: ours,txtai")
    parser.add_argument("--other", type=Path, default=HERE.parent, help="pair: the other checkout's folder")
    parser.add_argument("--workers", type=int, default=1, help="pair: processes of this checkout; the other has one")
    parser.add_argument("--sizes", type=_numbers, default="1000,10000,100000", help="scale: chunks, with commas")
    parser.add_argument("--chunks", type=int, default=CHUNKS)
    parser.add_argument("--questions", type=int, default=QUESTIONS, help="with 12000 hardly one comes twice")
    parser.add_argument("--rounds", type=int, default=3, help="how often every service has its turn at every load")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of a turn")
    parser.add_argument("--starts", type=int, default=2, help="how often every service is started")
    parser.add_argument("--concurrency", type=_numbers, default="1,8,32", help="questions in flight, with commas")
    parser.add_argument("--latency", type=_numbers, default="0,200", help="the model's, in ms, with commas")
    parser.add_argument("--envs", type=Path, default=os.environ.get("BENCH_ENVS", HERE / ".envs"))
    parser.add_argument("--cache", type=Path, default=os.environ.get("BENCH_CACHE", HERE / ".cache"))
    return parser


def _numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


if __name__ == "__main__":
    main()
