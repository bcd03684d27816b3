"""The project stays small enough to be read: entries, lines, files of one question; and uses no private names."""

from __future__ import annotations

import ast
import shutil
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.api.server import create_app
from app.bootstrap.compose import build_container
from app.settings import load_settings
from tests.support.paths import ROOT

MOST_FILES = 45
OURS = [ROOT / "app", ROOT / "graph"]
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
    assert lines_of(list((ROOT / "bench").rglob("*.py"))) <= 1_300


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


@pytest.fixture
def called() -> Iterator[set[str]]:
    """The files of which a function was called since, in any thread that was started since."""
    files: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            files.add(frame.f_code.co_filename)

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    yield files
    sys.setprofile(before)
    threading.setprofile(None)


def test_a_question_runs_through_few_files(sample_data: Path, tmp_path: Path, called: set[str]) -> None:
    """A question that is answered with a citation calls functions of at most 45 files of ``app`` and ``graph``."""
    shutil.copytree(sample_data, tmp_path / "data")
    container = build_container(load_settings(data_dir=tmp_path / "data"))
    local: dict[str, Any] = {"base_url": "http://localhost", "client": ("127.0.0.1", 50_000)}
    with TestClient(create_app(container), **local) as client:
        called.clear()
        answer = client.post("/query", json={"query": "What is Knowledge Garden?"}).json()
        asked = called.copy()
    assert answer["citedDocuments"]
    ours = {name for name in asked if any(Path(name).is_relative_to(folder) for folder in OURS)}
    assert {"service.py", "retriever.py", "database.py", "cite.py"} <= {Path(name).name for name in ours}
    assert len(ours) <= MOST_FILES
