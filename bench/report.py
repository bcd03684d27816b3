"""What was measured, for people: tables on the terminal or as Markdown, the figures as JSON, a plot as SVG."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

MEASURES = ("p50", "p95", "p99", "answers a second", "CPU ms a question")
COUNTED = ("answers", "answered", "model calls a question", "turned away", "errors")
WHOLE = ("installed, MB", "start to first answer, s", "memory when idle, MB", "memory after the rounds, MB")
NOT_COMPARED = "extractive"
"""A service that asks no model: shown, but no part of any ratio."""


def tables(result: dict[str, Any]) -> list[tuple[str, list[list[str]]]]:
    """Titled tables, the first row of each its heads: every measure by service, with ours over the best peer's."""
    services = result["services"]
    names = list(services)
    ratio = ["ours / best peer"] if "ours" in names and len(peers(names)) else []
    corpus = result["corpus"]
    made = [("each service", [["", *names, *ratio]])]
    made[0][1].extend(_row(what, {name: services[name][what] for name in names}) for what in WHOLE)
    for at, latency in enumerate(one["model latency, ms"] for one in services[names[0]]["first token, ms"]):
        for p in ("p50", "p95"):
            found = {name: services[name]["first token, ms"][at][p] for name in names}
            made[0][1].append(_row(f"first token {p}, ms, model {latency} ms", found))
    for at, head in enumerate(services[names[0]]["rounds"]):
        title = f"model {head['model latency, ms']} ms, {head['concurrency']} at once"
        rows = [["", *names, *ratio]]
        found = {name: services[name]["rounds"][at] for name in names}
        rows += [_row(what, {name: found[name][what] for name in names}) for what in MEASURES]
        rows += [[what, *(number(found[name][what]) for name in names), *["" for _ in ratio]] for what in COUNTED]
        made.append((title, rows))
    if "overhead" in result:
        rows = [["CPU ms a question, one at a time", ""]]
        made.append(("our overhead", rows + [[what, number(value)] for what, value in result["overhead"].items()]))
    made[0] = (f"each service, {corpus['chunks']:,} chunks, {corpus['questions']} questions", made[0][1])
    return made


def peers(names: Sequence[str]) -> list[str]:
    """Those that ours is compared with."""
    return [name for name in names if name not in ("ours", NOT_COMPARED)]


def _row(what: str, values: dict[str, float]) -> list[str]:
    cells = [what, *(number(value) for value in values.values())]
    others = [values[name] for name in peers(list(values)) if not math.isnan(values[name])]
    if "ours" in values and peers(list(values)):
        best = (max if what == "answers a second" else min)(others, default=math.nan)
        cells.append(f"{values['ours'] / best:.2f}" if best else "–")
    return cells


def number(value: float) -> str:
    """Three digits that mean something."""
    if isinstance(value, int):
        return str(value)
    if math.isnan(value):
        return "–"
    return f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}"


def show(made: Sequence[tuple[str, list[list[str]]]], console: Console | None = None) -> None:
    """Print the tables."""
    out = console or Console(highlight=False)
    for title, rows in made:
        table = Table(*rows[0], title=title, title_justify="left")
        for row in rows[1:]:
            table.add_row(*row)
        out.print(table)


def markdown(made: Sequence[tuple[str, list[list[str]]]]) -> str:
    """The tables as Markdown."""
    parts = []
    for title, (heads, *rows) in made:
        lines = [f"**{title}**", "", f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
        parts.append("\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)]))
    return "\n\n".join(parts) + "\n"


def write(result: dict[str, Any], folder: Path, name: str) -> list[Path]:
    """``NAME.json``, ``NAME.md`` and ``NAME.svg`` in *folder*; return them."""
    folder.mkdir(parents=True, exist_ok=True)
    json_file, md_file, svg_file = (folder / f"{name}.{kind}" for kind in ("json", "md", "svg"))
    json_file.write_text(json.dumps(_no_nan(result), indent=2) + "\n", encoding="utf-8")
    md_file.write_text(markdown(tables(result)), encoding="utf-8")
    svg_file.write_text(plot(result), encoding="utf-8")
    return [json_file, md_file, svg_file]


def plot(result: dict[str, Any]) -> str:
    """A row of bars for every load: median latency, throughput, processor time; one bar for every service."""
    services: dict[str, Any] = result["services"]
    first = next(iter(services.values()))["rounds"]
    shown = ("p50", "answers a second", "CPU ms a question")
    bar, gap, width = 18, 46, 320
    high = gap + bar * len(services)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width * len(shown) + 20} {high * len(first) + 30}"',
        ' font-family="system-ui,sans-serif" font-size="12"><rect width="100%" height="100%" fill="#fff"/>',
    ]
    for at, head in enumerate(first):
        for column, what in enumerate(shown):
            x, y = 20 + column * width, 24 + at * high
            load = f"model {head['model latency, ms']} ms, {head['concurrency']} at once"
            name = {"p50": "median, ms"}.get(what, what)
            out.append(f'<text x="{x}" y="{y + 8}" font-weight="600">{escape(name)}: {escape(load)}</text>')
            values = {key: one["rounds"][at][what] for key, one in services.items()}
            most = max((value for value in values.values() if not math.isnan(value)), default=0.0) or 1.0
            for line, (key, value) in enumerate(values.items()):
                out += _bar(x, y + 16 + line * bar, key, value, most)
    return "".join([*out, "</svg>"]) + "\n"


def _bar(x: int, y: int, name: str, value: float, most: float) -> list[str]:
    length = 0.0 if math.isnan(value) else 160 * value / most
    color = "#3b7a4a" if name in ("ours", NOT_COMPARED) else "#9aa6b2"
    return [
        f'<text x="{x + 68}" y="{y + 12}" text-anchor="end">{escape(name)}</text>',
        f'<rect x="{x + 74}" y="{y + 2}" width="{length:.1f}" height="12" fill="{color}"/>',
        f'<text x="{x + 80 + length:.1f}" y="{y + 12}">{number(value)}</text>',
    ]


def _no_nan(value: Any) -> Any:
    """The same without NaN, which JSON has no word for."""
    if isinstance(value, dict):
        return {key: _no_nan(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_no_nan(one) for one in value]
    return None if isinstance(value, float) and math.isnan(value) else value
