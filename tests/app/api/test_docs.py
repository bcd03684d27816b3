"""Every block of the README, CONTRIBUTING.md, answering/README.md and docs/*.md is run, or says why it is not.

A block runs in its own folder; a server over the sample documents is at the address that the texts name. Comments
above a block say what it is: ``not run: REASON``, ``file: PATH`` (it is written there), ``change: PATH`` (a diff of the
project's own file, for a copy of the project), ``changed`` (a command for that copy), ``studio`` and ``studio chat``
(programs that ``test_studio.py`` runs).
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from app.bootstrap.compose import build_container
from app.cli.main import app
from app.providers.embeddings.models import EmbeddingModel
from app.settings import Settings, load_settings
from tests.support.paths import KNOWLEDGE, ROOT
from tests.support.samples_service import serve

PAGES = ("README.md", "CONTRIBUTING.md", "answering/README.md")
DOCUMENTS = [*(ROOT / page for page in PAGES), *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"(?:^<!-- ([^\n]*) -->\n)?^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MADE_BY_US = ("mermaid",)
"""Languages that ``docs/render.py`` writes; tests/repository/test_readme.py compares them with the code."""


@dataclass(frozen=True)
class Block:
    """One fenced block: what the comment above it says, its language, its text."""

    comment: str
    language: str
    text: str


def blocks(path: Path) -> list[Block]:
    text = path.read_text("utf-8")
    found = [Block(comment or "", language, body) for comment, language, body in BLOCK.findall(text)]
    assert 2 * len(found) == len(re.findall(r"^\s*```", text, re.MULTILINE)), f"{path.name}: a block was not understood"
    return found


@dataclass
class Desk:
    """Where the documents are tried: a folder, and the address that stands for the documents' own."""

    folder: Path
    address: str

    def run(self, block: Block) -> None:
        """Do what the block says; an assertion fails when it does not work."""
        kind, _, value = block.comment.partition(": ")
        if kind == "not run":
            assert len(value) > 10, "a reason is a sentence"
        elif kind == "file":
            self.write(self.folder / value, block.text)
        elif kind in ("studio", "studio chat"):
            assert block.language == "python"
        elif kind == "change":
            change(self.copy / value, block.text)
        elif kind == "changed":
            self.in_the_copy(block.text)
        elif block.language == "bash":
            for line in block.text.replace("\\\n", " ").splitlines():
                self.command(shlex.split(line, comments=True))
        elif block.language == "python":
            text = block.text.replace("http://127.0.0.1:8000", self.address)
            code = compile(text, "a block of the documents", "exec", dont_inherit=True)
            exec(code, {"__name__": "block"})
        elif block.language == "json":
            json.loads(block.text)
        elif block.language == "ini":
            load(block.text)
        else:
            assert block.language in MADE_BY_US, f"nobody knows how to run this: {block}"

    def command(self, words: list[str]) -> None:
        if not words:
            return
        if words[0] == "curl":
            response = fetch(words[1:], self.address)
            assert response.is_success, response.text
            return
        assert words[0] == "garden", f"mark this block with a reason: {words}"
        done = CliRunner().invoke(app, words[1:], catch_exceptions=False)
        assert done.exit_code == 0, (words, done.output)
        assert not done.stdout.startswith(("Nothing was found", "Not sure")), words

    @property
    def copy(self) -> Path:
        """A copy of the project's code, made when it is first needed."""
        folder = self.folder / "copy"
        if not folder.exists():
            for name in ("answering", "app", "graph", "prompts"):
                shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        return folder

    def write(self, path: Path, text: str) -> None:
        ours = path.relative_to(self.folder)
        target = self.copy / ours if ours.parts[0] in ("answering", "app", "graph") else path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        if path.name == ".env":
            load(text)

    def in_the_copy(self, text: str) -> None:
        """Run a command in the copy: its answer has passed the step that was added."""
        code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from app.cli.main import main; main()"
        command = [sys.executable, "-c", code, str(self.copy), *shlex.split(text)[1:]]
        environment = {**os.environ, "DATA_DIR": str(self.folder / "library")}
        done = subprocess.run(command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        assert "review" in json.loads(done.stdout)["metadata"]["stageTimingsMs"]


def fetch(words: list[str], address: str) -> httpx.Response:
    """What curl would get: -H, -d, --data-binary @FILE and one address; -s and -N change nothing here."""
    headers, content, url = {}, None, ""
    while words:
        word = words.pop(0)
        if word == "-H":
            name, _, value = words.pop(0).partition(": ")
            headers[name] = value
        elif word == "-d":
            content = words.pop(0).encode()
        elif word == "--data-binary":
            content = Path(words.pop(0).removeprefix("@")).read_bytes()
        elif word not in ("-s", "-sN", "-N"):
            url = word.replace("http://127.0.0.1:8000", address)
    return httpx.request("GET" if content is None else "POST", url, headers=headers, content=content, timeout=30)


def change(path: Path, diff: str) -> None:
    """Apply a diff without line numbers: what it takes away or keeps must stand in the file exactly once."""
    lines = diff.splitlines()
    before = "\n".join(line[1:] for line in lines if not line.startswith("+"))
    after = "\n".join(line[1:] for line in lines if not line.startswith("-"))
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1, (path, before)
    path.write_text(text.replace(before, after), encoding="utf-8")


def load(text: str) -> Settings:
    """The settings with these lines; a wrong one, or one that there is not, fails."""
    given = dict(line.split("=", 1) for line in text.splitlines() if line and not line.startswith("#"))
    assert {name.lower() for name in given} <= set(Settings.model_fields), given
    return load_settings(**{name.lower(): value for name, value in given.items()})


@pytest.fixture(scope="module")
def desk(sample_data: Path, tmp_path_factory: pytest.TempPathFactory, embedding: EmbeddingModel) -> Iterator[Desk]:
    """The folder: the sample garden served from ``.garden``, another copy of it, and files to ingest."""
    folder = tmp_path_factory.mktemp("desk")
    shutil.copytree(sample_data, folder / ".garden")
    shutil.copytree(sample_data, folder / "library")
    (folder / "docs").mkdir()
    shutil.copy(KNOWLEDGE / "glossary.md", folder / "docs")
    shutil.copy(KNOWLEDGE / "hr_policy.pdf", folder / "handbook.pdf")
    with serve(build_container(load_settings(data_dir=folder / ".garden"), embedding=embedding)) as address:
        yield Desk(folder, address)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_block_runs(path: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command, program, setting and file of the document does what the document says it does."""
    monkeypatch.chdir(desk.folder)
    (desk.folder / ".env").unlink(missing_ok=True)
    for block in blocks(path):
        with monkeypatch.context() as library:
            if block.language == "python":  # a program opens the collection itself, so not the one that is served
                library.setenv("DATA_DIR", str(desk.folder / "library"))
            desk.run(block)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_setting_in_the_text_is_one(path: Path) -> None:
    """A setting with its value, wherever the text names one, is one that the service takes."""
    for name, value in re.findall(r"`([A-Z][A-Z_]+)=([^`…$]+)`", path.read_text("utf-8")):
        if name.lower() in Settings.model_fields:
            load(f"{name}={value}")
        else:
            assert name in ("PORT", "EVAL", "ARGS", "HOST", "LANGSMITH_TRACING"), f"{path.name}: {name} is no setting"


def test_every_file_the_documents_name_is_there() -> None:
    """Paths of the project that any document names exist."""
    for path in DOCUMENTS:
        text = re.sub(r"<!-- (?:file|change): .*? -->", "", path.read_text("utf-8"))
        folders = "answering|app|graph|prompts|knowledge|tests|training|docs|bench|deploy"
        named = set(re.findall(rf"`((?:{folders})/[\w./-]*)`", text))
        assert [name for name in sorted(named) if not (ROOT / name).exists()] == [], path.name
