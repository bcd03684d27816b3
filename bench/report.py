"""Report what was measured: tables as Markdown, the figures as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

MEASURES = ("p50", "p95", "p99", "answers a second", "CPU ms a question")
COUNTED = ("answers", "answered", "model calls a question", "turned away", "errors")
Titled = tuple[str, list[list[str]]]


def tables(result: dict[str, Any]) -> list[Titled]:
    """Make titled tables of every measure by service, with ours over the best peer's; first rows are heads."""
    services: dict[str, Any] = result["services"]
    heads = ["", *services, *(["ours / best peer"] if "ours" in services and len(services) > 1 else [])]
    first = next(iter(services.values()))
    whole = [_row(what, {name: one[what] for name, one in services.items()}) for what in first if what != "rounds"]
    corpus = result["corpus"]
    made = [(f"each service, {corpus['chunks']:,} chunks, {corpus['questions']} questions", [heads, *whole])]
    for at, head in enumerate(first["rounds"]):
        found = {name: one["rounds"][at] for name, one in services.items()}
        rows = [_row(what, {name: one[what] for name, one in found.items()}) for what in MEASURES]
        rows += [[what, *(number(result[what]) for result in found.values()), ""][: len(heads)] for what in COUNTED]
        made.append((f"model {head['model latency, ms']} ms, {head['concurrency']} at once", [heads, *rows]))
    return made


def _row(what: str, values: Mapping[str, float]) -> list[str]:
    cells = [what, *map(number, values.values())]
    peers = [value for name, value in values.items() if name != "ours" and not math.isnan(value)]
    if "ours" in values and len(values) > 1:
        best = (max if what == "answers a second" else min)(peers, default=math.nan)
        cells.append(number(values["ours"] / best if best else math.nan))
    return cells


def number(value: float) -> str:
    """Format three digits that mean something."""
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def write(result: dict[str, Any], tables: Sequence[Titled], folder: Path, name: str) -> None:
    """Print the tables as Markdown; write ``NAME.json`` and ``NAME.md`` in *folder*. NaN becomes null."""
    parts = []
    for title, rows in tables:
        lines = [f"| {' | '.join(row)} |" for row in rows]
        parts.append("\n".join([f"**{title}**", "", lines[0], "|---" * len(rows[0]) + "|", *lines[1:]]))
    text = "\n\n".join(parts) + "\n"
    print(text)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.md").write_text(text, encoding="utf-8")
    strict_json = json.loads(json.dumps(result), parse_constant=lambda _: None)
    (folder / f"{name}.json").write_text(json.dumps(strict_json, indent=2) + "\n", encoding="utf-8")
