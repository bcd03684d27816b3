"""One question runs through few files, in the order in which CONTRIBUTING.md names them."""

from __future__ import annotations

import re
import shutil
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from starlette.testclient import TestClient

from app.api.server import create_app
from app.bootstrap.compose import build_container
from app.settings import load_settings
from tests.support.paths import ROOT

MAX_FILES = 40
STARTED_OR_FAILED = ("app/api/server.py", "graph/errors.py", "app/api/errors.py")
"""Files that are called before the question, or for one that fails."""
OURS = [ROOT / "answering", ROOT / "app", ROOT / "graph"]
Call = tuple[Path | None, Path]
"""Two of our files: the nearest caller, if there is one, and what was called."""


def our_file(frame: FrameType | None) -> Path | None:
    """The file of a frame, if it is of ours, below the root."""
    path = Path(frame.f_code.co_filename) if frame else ROOT
    return path.relative_to(ROOT) if any(path.is_relative_to(folder) for folder in OURS) else None


@pytest.fixture(scope="module")
def calls(sample_data: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Call]:
    """The calls of one ``POST /query`` with defaults that is answered, each once, by their first time."""
    seen: dict[Call, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and (file := our_file(frame)):
            caller = frame.f_back
            while caller and not our_file(caller):
                caller = caller.f_back
            seen.setdefault((our_file(caller), file))

    data = Path(shutil.copytree(sample_data, tmp_path_factory.mktemp("walk") / "data"))
    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        container = build_container(load_settings(data_dir=data))
        local: dict[str, Any] = {"base_url": "http://localhost", "client": ("127.0.0.1", 50_000)}
        with TestClient(create_app(container), **local) as client:
            seen.clear()
            answer = client.post("/query", json={"query": "What is Knowledge Garden?"}).json()
            asked = list(seen)
    finally:
        sys.setprofile(before)
        threading.setprofile(None)
    assert answer["citedDocuments"]
    return asked


def walk() -> list[str]:
    """The files and folders of CONTRIBUTING.md's walk, each where it is first named."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## One question through the code")[2].partition("\n## ")[0]
    steps = section[: section.index("\n`tests/")]
    return list(dict.fromkeys(re.findall(r"`((?:answering|app|graph)/[\w/.]+)`", steps)))


def test_a_question_runs_through_few_files(calls: list[Call]) -> None:
    """A question that is answered with a citation calls functions of at most 40 files."""
    files = {file for _, file in calls}
    assert {"service.py", "retriever.py", "database.py", "answer.py"} <= {file.name for file in files}
    assert len(files) <= MAX_FILES


def test_app_is_entered_at_two_places(calls: list[Call]) -> None:
    """After the route the two pure packages call ``app`` by two ports alone: search, and the reader."""
    pure = ("answering", "graph")
    entered = {file.name for caller, file in calls if caller and caller.parts[0] in pure and file.parts[0] == "app"}
    assert entered == {"collections.py", "reader.py"}


def test_the_walk_names_the_files_in_their_order(calls: list[Call]) -> None:
    """Of the files that CONTRIBUTING.md names, those that this question calls come in that order, and most do."""
    first = [file.as_posix() for file in dict.fromkeys(file for _, file in calls)]
    named = [place for place in walk() if any(file.startswith(place) for file in first)]
    assert len(named) >= 15
    assert named == sorted(named, key=lambda place: next(n for n, file in enumerate(first) if file.startswith(place)))
    others = set(walk()) - set(named)
    assert others == {*STARTED_OR_FAILED, "app/pipeline/chat.py", "answering/markers/"}
