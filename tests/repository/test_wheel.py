"""The wheel, away from the checkout: built from the sdist, installed into an empty environment, served and asked."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT

UV = str(Path(sys.executable).with_name("uv"))
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist")
QUESTION = "What are the safety protocols for handling chemicals?"

pytestmark = [pytest.mark.long, pytest.mark.timeout(900)]


def run(*command: str, folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that holds the sdist and the wheel that was built from it."""
    folder = tmp_path_factory.mktemp("build")
    shutil.copytree(ROOT, folder / "source", ignore=LEFT_OUT)
    run(
        UV,
        "build",
        "--quiet",
        "--no-build-isolation",
        "--python",
        sys.executable,
        "source",
        "-o",
        "dist",
        folder=folder,
    )
    return folder / "dist"


@pytest.fixture(scope="module")
def installed(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The programs of an environment that holds the wheel, what the lock names, and no checkout."""
    folder = tmp_path_factory.mktemp("away")
    run(UV, "venv", "--quiet", "--python", sys.executable, "env", folder=folder)
    programs = folder / "env" / "bin"
    install = (UV, "pip", "install", "--quiet", "--no-deps", "--python", str(programs / "python"))
    run(*install, "--require-hashes", "-r", str(ROOT / "requirements" / "run.txt"), folder=folder)
    run(*install, *map(str, dist.glob("*.whl")), folder=folder)
    return programs


@pytest.fixture(scope="module")
def served(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of ``garden serve --ingest-samples``, run from an empty folder."""
    command = [str(installed / "garden"), "serve", "--ingest-samples", "--port", "0", "--json"]
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    folder = tmp_path_factory.mktemp("served")
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            address: str = json.loads(process.stdout.readline())["address"]
            yield ready(address, process)
        finally:
            process.terminate()


def ready(address: str, process: subprocess.Popen[str]) -> str:
    """The address, once it answers."""
    pause = threading.Event()
    for _ in range(600):
        assert process.poll() is None
        try:
            urllib.request.urlopen(f"{address}/health/ready", timeout=5).close()
        except OSError:
            pause.wait(0.1)
        else:
            return address
    raise AssertionError("the server did not get ready")


def ask(address: str) -> Any:
    body = json.dumps({"query": QUESTION}).encode()
    request = urllib.request.Request(f"{address}/query", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as response:
        return json.load(response)


def test_the_wheel_serves_the_page_and_answers(served: str) -> None:
    """Away from the checkout it ingests its samples, serves its page and answers from them."""
    with urllib.request.urlopen(f"{served}/", timeout=30) as page:
        assert b"<title>Knowledge Garden</title>" in page.read()
    with urllib.request.urlopen(f"{served}/page/main.js", timeout=30) as script:
        assert script.headers["content-type"].startswith("text/javascript")
    with urllib.request.urlopen(f"{served}/api/v1/page", timeout=30) as offer:
        assert json.load(offer)["examples"]
    assert ask(served)["citedDocuments"][0]["id"] == "safety_manual.pdf"


def test_the_wheel_runs_nothing_of_the_checkout(installed: Path, tmp_path: Path) -> None:
    """Its modules, prompts and samples are those that were installed."""
    code = (
        "import answering, app, graph, prompts; from app.ingest.find import SAMPLE_FOLDER\n"
        "print(app.__file__, graph.__file__, prompts.__file__, SAMPLE_FOLDER)"
    )
    done = subprocess.run([installed / "python", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    places = done.stdout.split()
    assert len(places) == 4
    assert all(str(installed.parent) in place for place in places), places
    assert list((installed.parent).rglob("site-packages/prompts/*.md"))


def test_the_sdist_is_whole(dist: Path) -> None:
    """The sdist holds what the wheel needs: code, page, prompts and samples."""
    with tarfile.open(next(dist.glob("*.tar.gz"))) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "app/api/page/index.html",
        "prompts/answer.v2.md",
        "knowledge/examples.json",
        "LICENSE",
        "README.md",
    } <= names
