"""What another package registers by entry points: the example of docs/extending.md, installed and used."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.api.test_docs import blocks
from tests.support.command import garden_process
from tests.support.paths import ROOT

TOUR = "1\n00:00:01,000 --> 00:00:04,000\nThe lighthouse of Larkfield\nhas ninety steps.\n"
DUMP = """
from garden_hashed import HashedWords
from langchain_core.vectorstores import InMemoryVectorStore
import sys
store = InMemoryVectorStore(HashedWords(256))
store.add_texts(["The pier has forty lamps."], [{"document_id": "pier"}], ids=["pier#0"])
store.dump(sys.argv[1])
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the package of docs/extending.md is installed."""
    folder = tmp_path_factory.mktemp("extras")
    for block in blocks(ROOT / "docs" / "extending.md"):
        kind, _, path = block.comment.partition(": ")
        if kind == "file" and path.startswith("garden-extras/"):
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(block.text, encoding="utf-8")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index"]
    command += ["--target", str(folder / "site"), str(folder / "garden-extras")]
    subprocess.run(command, check=True, capture_output=True, timeout=100)
    return folder / "site"


@pytest.fixture
def path(site: Path) -> str:
    """The environment's PYTHONPATH with that folder."""
    return os.pathsep.join([str(site), str(ROOT)])


def test_a_format_is_read(path: str, tmp_path: Path) -> None:
    """A file of a registered suffix is ingested, and what it says is found."""
    (tmp_path / "tour.srt").write_text(TOUR)
    done = garden_process("ingest", str(tmp_path / "tour.srt"), "--json", data=tmp_path / "data", PYTHONPATH=path)
    assert json.loads(done.stdout)["added"] == 1, done.stderr
    asked = garden_process("ask", "How many steps has the lighthouse?", data=tmp_path / "data", PYTHONPATH=path)
    assert "The lighthouse of Larkfield has ninety steps." in asked.stdout


def test_a_provider_and_a_store_are_used(path: str, tmp_path: Path) -> None:
    """``EMBEDDING_MODEL`` and ``VECTOR_STORE`` take registered names: a store that another program filled answers."""
    (data := tmp_path / "data").mkdir()
    settings = {"PYTHONPATH": path, "EMBEDDING_MODEL": "hashed:256", "VECTOR_STORE": "dumped"}
    dumping = [sys.executable, "-c", DUMP, str(data / "corporate_documents.json")]
    subprocess.run(dumping, check=True, env={**os.environ, **settings}, timeout=60)
    found = garden_process("search", "how many lamps", "--json", data=data, **settings)
    assert [hit["text"] for hit in json.loads(found.stdout)["results"]] == ["The pier has forty lamps."], found.stderr


def test_a_package_that_cannot_be_imported_is_named(site: Path, tmp_path: Path) -> None:
    """One line says what was registered; a name that nothing registers lists what is allowed. Both exit with 2."""
    (broken := tmp_path / "broken-1.dist-info").mkdir()
    (broken / "METADATA").write_text("Metadata-Version: 2.1\nName: broken\nVersion: 1\n")
    (broken / "entry_points.txt").write_text("[knowledge_garden.stores]\nbroken = no_such_module:make\n")
    path = os.pathsep.join([str(tmp_path), str(site), str(ROOT)])
    for name, words in (
        ("broken", "no_such_module:make, which is registered as"),
        ("shelf", "embedded, qdrant, chroma, broken, dumped"),
    ):
        done = garden_process("serve", data=tmp_path / "data", VECTOR_STORE=name, PYTHONPATH=path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert words in done.stderr
