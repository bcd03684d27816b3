"""``make bench``: our service and four peers. ``ARGS=scale``: ours at growing sizes. ``ARGS="pair --other DIR"``: two
checkouts of ours.

``--only ours`` and ``--quick`` make it short. Results go to bench/out as JSON, Markdown and SVG.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

from bench.compare import Comparison, Plan
from bench.corpus import CHUNKS, QUESTIONS, Corpus, make_corpus, read_corpus
from bench.report import show, tables, write
from bench.services import OURS, PEERS, SERVICES, Service

HERE = Path(__file__).parent


def main(arguments: list[str]) -> None:
    """Run what the arguments ask for."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that what was started is stopped
    if arguments[:1] == ["scale"]:
        from bench.scale import main as scale

        scale(arguments[1:])
        return
    if arguments[:1] == ["pair"]:
        from bench.pair import main as pair

        pair(arguments[1:])
        return
    chosen = parser().parse_args(arguments)
    result = Comparison(plan_of(chosen), corpus_of(chosen)).run()
    show(tables(result))
    print(*write(result, chosen.out, chosen.name), sep="\n")


def parser() -> argparse.ArgumentParser:
    """What may be asked for."""
    options = argparse.ArgumentParser(prog="bench", description=__doc__)
    options.add_argument("--only", help=f"of {', '.join(one.name for one in SERVICES)}; several with commas")
    options.add_argument("--quick", action="store_true", help="1,000 chunks, one round of two seconds, one start")
    options.add_argument("--corpus", type=Path, help="a folder with corpus.jsonl and questions.jsonl")
    options.add_argument("--chunks", type=int, help=f"size of the made corpus, {CHUNKS:,} if not named")
    options.add_argument(
        "--questions", type=int, help=f"about that corpus, {QUESTIONS} if not named; with 12000 hardly one comes twice"
    )
    options.add_argument("--rounds", type=int, help="how often every service has its turn at every load")
    options.add_argument("--seconds", type=float, help="length of a turn")
    options.add_argument("--starts", type=int, help="how often every service is started; the quickest counts")
    options.add_argument("--concurrency", help="questions in flight, with commas: 1,8,32")
    options.add_argument("--latency", help="the model's, in ms, with commas: 0,200")
    options.add_argument("--envs", type=Path, default=Path(os.environ.get("BENCH_ENVS", HERE / ".envs")))
    options.add_argument("--cache", type=Path, default=Path(os.environ.get("BENCH_CACHE", HERE / ".cache")))
    options.add_argument("--out", type=Path, default=HERE / "out")
    options.add_argument("--name", default="compare", help="of the files in the output folder")
    return options


def plan_of(chosen: argparse.Namespace) -> Plan:
    """The plan that the options describe."""
    given = {
        "services": services_of(chosen.only),
        "rounds": chosen.rounds or (1 if chosen.quick else None),
        "seconds": chosen.seconds or (2.0 if chosen.quick else None),
        "starts": chosen.starts or (1 if chosen.quick else None),
        "streams": 10 if chosen.quick else None,
        "warm_up": 1.0 if chosen.quick else None,
        "concurrency": numbers(chosen.concurrency),
        "latencies_ms": numbers(chosen.latency),
        "envs": chosen.envs,
        "cache": chosen.cache,
    }
    return Plan(**{name: value for name, value in given.items() if value is not None})


def corpus_of(chosen: argparse.Namespace) -> Corpus:
    """The corpus that the options name."""
    if chosen.corpus:
        return read_corpus(chosen.corpus)
    return make_corpus(chosen.chunks or (1000 if chosen.quick else CHUNKS), chosen.questions or QUESTIONS)


def services_of(names: str | None) -> list[Service]:
    """The services of these names; ours and all peers if there are none. Raises ``SystemExit`` for an unknown one."""
    if names is None:
        return [OURS, *PEERS]
    known = {one.name: one for one in SERVICES}
    unknown = [name for name in names.split(",") if name not in known]
    if unknown:
        raise SystemExit(f"no service {', '.join(unknown)}; there are {', '.join(known)}")
    return [known[name] for name in names.split(",")]


def numbers(text: str | None) -> list[int] | None:
    """``1,8`` as [1, 8]."""
    return [int(part) for part in text.split(",")] if text else None


if __name__ == "__main__":
    main(sys.argv[1:])
