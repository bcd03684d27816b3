"""What the samples of a soak say: a table, and what grew that should not."""

from __future__ import annotations

from pathlib import Path
from statistics import linear_regression, median
from typing import Any

from rich.console import Console

WARM = 0.4
"""Share of the run in which caches fill and threads are made; what counts comes after."""

MOST_MB_A_MINUTE = 4.0
"""Steepest rise of memory, of what an allocator does not give back in a run of minutes."""

AT_REST = {
    "connections": 8,
    "closing": 0,
    "garden_tasks": 12,
    "garden_http_requests_in_flight": 0,
    "garden_questions_in_flight": 0,
}
"""Most of each, once every client has left.

``connections`` are those of the soak's own last questions and of what they ask; ``closing`` are sockets (CLOSE_WAIT)
that the other side has closed and the service still holds, as nothing should once it has had a moment.
"""


def findings(found: dict[str, Any]) -> list[str]:
    """What is wrong, in words; nothing when nothing is."""
    wrong = [f"{count} x {kind}" for kind, count in found["seen"].items() if kind.endswith((" 500", "shape"))]
    after = _after(found)
    if (slope := rise(after)) > MOST_MB_A_MINUTE:
        wrong.append(f"memory rises by {slope:.1f} MB a minute")
    rest = {**found["rest"]["outside"], **found["rest"]["inside"]}
    most = {name: max(sample[name] for sample in after) for name in ("threads", "files")} | AT_REST
    return wrong + [f"{name}: {rest[name]:g} at rest" for name, limit in most.items() if rest[name] > limit]


def rise(samples: list[dict[str, float]]) -> float:
    """Slope of the memory, in MB a minute, by least squares."""
    if len(samples) < 3:
        return 0.0
    return linear_regression([s["second"] / 60 for s in samples], [s["memory_mb"] for s in samples]).slope


def _after(found: dict[str, Any]) -> list[dict[str, float]]:
    return [sample for sample in found["samples"] if sample["second"] >= WARM * found["seconds"]]


def table(found: dict[str, Any], command: str) -> str:
    """The summary as Markdown."""
    after, rest = _after(found), {**found["rest"]["outside"], **found["rest"]["inside"]}
    in_flight = f"{rest['garden_http_requests_in_flight'] + rest['garden_questions_in_flight']:g}"
    total = sum(found["seen"].values())
    rows = [
        f"| {name} | {found['samples'][0][name]:g} | {median(s[name] for s in after):g} | "
        f"{max(s[name] for s in after):g} | {rest[name]:g} |"
        for name in ("memory_mb", "threads", "files", "connections", "closing")
    ]
    kinds = ", ".join(f"{kind}: {count}" for kind, count in found["seen"].items())
    return "\n".join(
        [
            "# Soak",
            "",
            f"`{command}`: {found['seconds'] / 60:g} minutes, {total} requests through every door,",
            "clients that leave in the middle among them, while the model and the store refuse, hang up, go silent,",
            "drip and break off in turn.",
            f"Written by `bench/soak.py`; the first {WARM:.0%} of the run count as warming up.",
            "",
            "| | at the start | median after | most after | at rest |",
            "|---|---|---|---|---|",
            *rows,
            "",
            f"Memory after warming up: {rise(after):+.2f} MB a minute (least squares).",
            f"At rest: {rest['garden_tasks']:g} tasks on the event loop, {in_flight} requests or questions in flight.",
            f"Left behind: {'; '.join(found['wrong']) or 'nothing'}.",
            "",
            f"By kind and status: {kinds}.",
            "",
        ]
    )


def write(found: dict[str, Any], command: str, report: Path | None) -> int:
    """Print the table, keep it in *report*, and give the exit status."""
    text = table(found, command)
    Console().print(text, markup=False, highlight=False, soft_wrap=True)
    if report:
        report.write_text(text, encoding="utf-8")
    return 1 if found["wrong"] else 0
