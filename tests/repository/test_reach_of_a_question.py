"""One ``POST /query`` runs through few files, so that it can be read in one go."""

from __future__ import annotations

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
    folders = [ROOT / "app", ROOT / "graph"]
    ours = {name for name in asked if any(Path(name).is_relative_to(folder) for folder in folders)}
    assert {"service.py", "retriever.py", "database.py", "cite.py"} <= {Path(name).name for name in ours}
    assert len(ours) <= MOST_FILES
