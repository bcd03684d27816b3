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

MAX_FILES = 45
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


def our_file(frame: FrameType | None) -> Path | None:
    """The file of a frame, if it is of ours, below the root."""
    path = Path(frame.f_code.co_filename) if frame else ROOT
    return path.relative_to(ROOT) if any(path.is_relative_to(folder) for folder in OURS) else None


@pytest.fixture
def called() -> Iterator[set[tuple[Path | None, Path]]]:
    """Pairs of our files: the nearest caller, if there is one, and what was called; in threads that started since."""
    files: set[tuple[Path | None, Path]] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and (file := our_file(frame)):
            caller = frame.f_back
            while caller and not our_file(caller):
                caller = caller.f_back
            files.add((our_file(caller), file))

    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    yield files
    sys.setprofile(before)
    threading.setprofile(None)


def test_a_question_runs_through_few_files(
    sample_data: Path, tmp_path: Path, called: set[tuple[Path | None, Path]]
) -> None:
    """A question that is answered with a citation calls functions of at most 45 files of ``answering``, ``app`` and
    ``graph``; the two pure packages call ``app`` by its ports alone."""
    shutil.copytree(sample_data, tmp_path / "data")
    container = build_container(load_settings(data_dir=tmp_path / "data"))
    local: dict[str, Any] = {"base_url": "http://localhost", "client": ("127.0.0.1", 50_000)}
    with TestClient(create_app(container), **local) as client:
        called.clear()
        answer = client.post("/query", json={"query": "What is Knowledge Garden?"}).json()
        asked = called.copy()
    assert answer["citedDocuments"]
    ours = {file for _, file in asked}
    assert {"service.py", "retriever.py", "database.py", "cite.py"} <= {file.name for file in ours}
    pure = ("answering", "graph")
    entered = {file.name for caller, file in asked if caller and caller.parts[0] in pure and file.parts[0] == "app"}
    assert entered == {"extractive.py", "reader.py", "retriever.py"}
    assert len(ours) <= MAX_FILES
