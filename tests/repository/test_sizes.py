"""The project stays small enough to be read: entries, lines; and uses no private names."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.support.paths import ROOT

OURS = [ROOT / "answering", ROOT / "app", ROOT / "graph"]
OWNERS = {"self", "cls"}
PUBLIC = {"_asdict", "_fields", "_make", "_replace", "_exit", "_astream"}
"""Documented in spite of their names: methods of a named tuple, ``os._exit``, LangChain's method to override."""


def lines_of(paths: list[Path]) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in paths)


def test_app_has_few_entries() -> None:
    """``app`` has at most twelve entries."""
    assert len([path for path in (ROOT / "app").iterdir() if path.name != "__pycache__"]) <= 12


def test_the_embedded_store_and_the_benchmarks_are_small() -> None:
    """The embedded store has at most 600 lines, ``bench`` at most 1,300."""
    stores = ROOT / "app" / "providers" / "stores"
    assert lines_of([stores / f"{name}.py" for name in ("embedded", "database", "segments")]) <= 600
    ours = [
        *(ROOT / "bench").glob("*.py"),
        *(ROOT / "bench" / "peers").rglob("*.py"),
    ]  # not the environments it installs
    assert lines_of(ours) <= 1_300


def test_private_names_are_their_owners() -> None:
    """No private attribute of another object, and so of no library, is used."""
    used = [
        f"{path.relative_to(ROOT)}:{node.lineno} {node.attr}"
        for folder in OURS
        for path in folder.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
        if node.attr not in PUBLIC and not (isinstance(node.value, ast.Name) and node.value.id in OWNERS)
    ]
    assert used == []


def test_no_pattern_repeats_a_group_possessively() -> None:
    """``(…)++`` matches wrongly before Python 3.11.5 (github.com/python/cpython/issues/106052), and 3.11 will do."""
    sources = {path: path.read_text(encoding="utf-8") for folder in OURS for path in folder.rglob("*.py")}
    assert [path.name for path, source in sources.items() if re.search(r"\)(?:[*+?]|\{\d*,?\d*\})\+", source)] == []
