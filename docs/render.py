"""Write what the code itself knows: the drawing of the graph into CONTRIBUTING.md, every setting into docs/settings.md.

``make docs`` runs it; ``tests/repository/test_readme.py`` fails while a block differs from what it would write.
"""

from __future__ import annotations

import re
import sys
from functools import partial
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from pydantic import SecretStr  # noqa: E402  # the project is importable only now

from app.settings import Settings  # noqa: E402
from graph.build import build_graph  # noqa: E402
from graph.policy import Policy  # noqa: E402
from graph.ports import Ports  # noqa: E402


def graph() -> str:
    """The compiled graph's edges as LangGraph has them, a line for each node they leave."""
    ports = Ports(None, None, None)  # type: ignore[arg-type]  # nothing is asked of them for a drawing
    compiled = build_graph(ports, Policy())
    edges = compiled.get_graph().edges
    lines = []
    for source in ("__start__", *compiled.builder.nodes):
        arrow = "-.->" if any(edge.conditional for edge in edges if edge.source == source) else "-->"
        lines.append(f"\t{source} {arrow} {' & '.join(edge.target for edge in edges if edge.source == source)};")
    return "\n".join(["```mermaid", "graph TD;", *lines, "```"])


def settings() -> str:
    """Every setting, its default and what it is for, in the order of ``app/settings.py``."""
    rows = ["| setting | default | meaning |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = field.default
        value = default.get_secret_value() if isinstance(default, SecretStr) else default
        rows.append(
            f"| `{name.upper()}` | {f'`{value}`' if value not in ('', (), None) else ''} | {field.description} |"
        )
    return "\n".join(rows)


BLOCKS = {"graph": graph, "settings": settings}
PAGES = {"graph": ROOT / "CONTRIBUTING.md", "settings": ROOT / "docs" / "settings.md"}
"""Block -> the page that holds it."""


def rendered(text: str) -> str:
    """*text* with every block between ``<!-- begin NAME -->`` and ``<!-- end NAME -->`` written anew."""
    for name, write in BLOCKS.items():
        pattern = re.compile(rf"(<!-- begin {name}[^>]*-->\n).*?(\n<!-- end {name} -->)", re.DOTALL)
        text = pattern.sub(partial(_filled, made=write()), text)
    return text


def _filled(found: re.Match[str], made: str) -> str:
    return f"{found[1]}{made}{found[2]}"


if __name__ == "__main__":
    for path in PAGES.values():
        path.write_text(rendered(path.read_text(encoding="utf-8")), encoding="utf-8")
