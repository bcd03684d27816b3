"""An evaluation for people: a table, and one picture as a web page of its own."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

BARS = ("hit@1", "hit@5", "right chunk passes", "precision of what passes", "abstention", "answer recall",
        "cited source right", "right outcome")  # fmt: skip
"""Rates a person looks at first."""


def print_report(summary: dict[str, Any], title: str, console: Console | None = None) -> None:
    """Print the measures and the stage times."""
    out = console or Console(highlight=False)
    table = Table("measure", "value", title=title)
    for name, value in summary["measures"].items():
        table.add_row(name, "–" if value is None else f"{value:g}")
    for stage, ms in summary["stage_ms_p50"].items():
        table.add_row(f"{stage}, ms (p50)", f"{ms:g}")
    out.print(table)
    for wrong in summary["wrong"][:20]:
        out.print(f"  {wrong['id']}: {wrong['question']} -> {wrong['outcome']} {wrong['cited']}", markup=False)


def write_picture(summary: dict[str, Any], title: str, path: Path) -> None:
    """Write the rates as bars and the confidence as a reliability curve, in one SVG."""
    rates = [(name, summary["measures"].get(name)) for name in BARS]
    rows = [(name, value) for name, value in rates if value is not None]
    height = 70 + 34 * len(rows)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 900 {max(height, 400)}"',
        ' font-family="system-ui,sans-serif" font-size="14">',
        f'<rect width="100%" height="100%" fill="#fff"/><text x="20" y="32" font-size="20">{escape(title)}</text>',
    ]
    for i, (name, value) in enumerate(rows):
        y = 56 + 34 * i
        parts.append(
            f'<text x="20" y="{y + 16}">{escape(name)}</text>'
            f'<rect x="210" y="{y}" width="250" height="22" fill="#e6eee6"/>'
            f'<rect x="210" y="{y}" width="{250 * value:.1f}" height="22" fill="#3b7a4a"/>'
            f'<text x="470" y="{y + 16}">{value:.3f}</text>'
        )
    parts += _curve(summary["reliability"])
    path.write_text("".join([*parts, "</svg>"]), encoding="utf-8")


def _curve(rows: list[dict[str, Any]]) -> list[str]:
    """Stated confidence to the right, found right upwards; on the diagonal it means what it says."""
    x0, y0, side = 580, 330, 270
    parts = [
        f'<text x="{x0}" y="48">confidence: stated and found</text>',
        f'<rect x="{x0}" y="{y0 - side}" width="{side}" height="{side}" fill="none" stroke="#999"/>',
        f'<line x1="{x0}" y1="{y0}" x2="{x0 + side}" y2="{y0 - side}" stroke="#bbb" stroke-dasharray="4"/>',
        f'<text x="{x0}" y="{y0 + 20}">0 stated 1</text>',
    ]
    for row in rows:
        x, y = x0 + side * row["stated"], y0 - side * row["right"]
        size = min(14.0, 3 + row["answers"] ** 0.5)
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:.1f}" fill="#3b7a4a" fill-opacity=".7"/>')
    return parts
