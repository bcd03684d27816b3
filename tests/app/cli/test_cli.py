"""The command ``garden``: what a person, or a program, gets from it."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from app.cli.ask import best_part
from app.ingest.manifest import read_sources
from tests.app.api.test_query_api import CHEMICALS, OFF_TOPIC
from tests.support.command import garden, garden_process


@pytest.fixture(scope="module")
def data(sample_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the collection of sample documents."""
    folder = tmp_path_factory.mktemp("cli") / "data"
    shutil.copytree(sample_data, folder)
    return folder


def test_ask_prints_answer_and_sources(data: Path) -> None:
    """``garden ask`` prints the cited answer, then its quotes with section and page; ``--json`` the wire object."""
    done = garden_process("ask", CHEMICALS, data=data)
    assert done.returncode == 0, done.stderr
    assert "goggles" in done.stdout
    assert re.search(r"^\[1\] Safety Manual.*\n    “.+” \(4 Chemical handling · page 3\)$", done.stdout, re.MULTILINE)
    body = json.loads(garden("ask", CHEMICALS, "--json", data=data).stdout)
    assert body["evidence"][0]["documentId"] == "safety_manual.pdf"


def on_a_terminal(*arguments: str, data: Path) -> tuple[int, str]:
    """Exit status of the command, and all that it wrote to the terminal it was run on."""
    here, there = pty.openpty()
    environment = {**os.environ, "DATA_DIR": str(data), "TERM": "xterm", "COLUMNS": "70", "LINES": "24"}
    command = [sys.executable, "-m", "app.cli", *arguments]
    with subprocess.Popen(command, stdin=there, stdout=there, stderr=there, env=environment) as process:
        os.close(there)
        written = b""
        with suppress(OSError):  # Linux ends a terminal without a writer in this way
            while piece := os.read(here, 4096):
                written += piece
    os.close(here)
    return process.returncode, written.decode()


def test_a_close_passage_is_cut_around_its_best_sentence() -> None:
    """Of a passage too long to be shown, the part with the words of the question is, wherever it stands."""
    text = (
        "Solvents are stored in a cabinet. " * 20
        + "The canteen is free in the first week. "
        + "The writer is rinsed. " * 20
    )
    shown = best_part(text, "Is the canteen free?")
    assert "The canteen is free in the first week." in shown
    assert shown[0] == shown[-1] == "…"
    assert best_part("Nothing of it.", "?") == "Nothing of it."


def test_ask_on_a_terminal_streams_and_then_shows_the_answer_once(data: Path) -> None:
    """What streams is taken off the screen when the verified answer is there; sources follow, broken between words."""
    status, written = on_a_terminal("ask", "What is the company vacation policy?", data=data)
    streamed, _, screen = written.rpartition("\x1b[2K")
    assert status == 0
    assert "28 working" in streamed
    lines = [re.sub(r"\x1b\[\d+m", "", line).rstrip() for line in screen.splitlines()]
    text = " ".join(" ".join(lines).split())
    assert text.startswith("The company vacation policy grants every full-time employee 28 working days of paid")
    assert text.count("Vacation is not paid out in money, except when employment ends [1].") == 1
    assert "[1] HR Policy  hr_policy.pdf" in lines
    quotes = lines[lines.index("[1] HR Policy  hr_policy.pdf") + 1 :]
    assert quotes[0].startswith("    “The company vacation policy")
    assert all(line.startswith("    ") and len(line) <= 70 for line in quotes)


def test_ask_declines_without_failing(data: Path) -> None:
    """A question without an answer is declined with status 0 and no sources."""
    done = garden("ask", OFF_TOPIC, data=data)
    assert done.exit_code == 0
    assert "Nothing was found" in done.stdout
    assert "[1]" not in done.stdout


def test_ask_of_nothing_is_one_line_and_status_two(data: Path) -> None:
    """An empty question is one clear line on stderr, no traceback, status 2."""
    done = garden("ask", " ", data=data)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "Query must be non-blank" in done.stderr


def test_search_prints_table_context_and_json(data: Path) -> None:
    """``garden search`` prints a ranked table and the context; ``--json`` the four members, k clamped."""
    done = garden("search", "node communication in ROS 2", "-k", "3", data=data)
    assert done.exit_code == 0, done.stderr
    assert "--- [3]" in done.stdout
    found = json.loads(garden("search", "node communication", "-k", "99", "--json", data=data).stdout)
    assert set(found) == {"query", "k", "results", "context"}
    assert (found["k"], len(found["results"])) == (8, 8)


def test_search_of_an_empty_garden(tmp_path: Path) -> None:
    """An empty collection is an empty JSON result, one line on stderr and a status of its own."""
    done = garden("search", "anything", "--json", data=tmp_path)
    assert done.exit_code == 1
    assert json.loads(done.stdout)["results"] == []
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("OLLAMA_TIMEOUT_SECONDS", "0"),
        ("RELEVANCE_THRESHOLD", "1.5"),
        ("VECTOR_STORE", "shelf"),
        ("QDRANT_URL", "ftp://x"),
        ("PORT", "99999"),
    ],
)
def test_wrong_setting_stops_with_one_line(tmp_path: Path, setting: str, value: str) -> None:
    """A wrong setting ends the start with status 2 and one line that names setting, value and what is allowed."""
    done = garden("serve", data=tmp_path, **{setting: value})
    assert done.exit_code == 2
    assert done.stderr.count("\n") == 1
    assert setting in done.stderr
    assert value in done.stderr


@pytest.mark.parametrize(("setting", "value"), [("EMBEDDING_MODEL", "no-such-model"), ("RERANKER", "magic")])
def test_an_unknown_model_stops_with_one_line(tmp_path: Path, setting: str, value: str) -> None:
    """The same holds for a wrong setting that is found when the parts are made, after the log is set up."""
    done = garden_process("serve", "--port", "0", data=tmp_path, **{setting: value})
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert setting in done.stderr
    assert value in done.stderr


def test_secrets_do_not_show(tmp_path: Path) -> None:
    """A wrong setting beside a secret never prints the secret."""
    done = garden("serve", data=tmp_path, COHERE_API_KEY="s3cret-key", VECTOR_STORE="shelf")
    assert "s3cret" not in done.stderr + done.stdout


def test_commands_work_beside_a_running_server(address: str, sample_data: Path) -> None:
    """On the collection that a server serves, ask, search and health work directly."""
    asked = garden_process("ask", CHEMICALS, "--json", data=sample_data)
    assert asked.returncode == 0, asked.stderr
    assert json.loads(asked.stdout)["metadata"]["answerSynthesized"] is True
    found = garden_process("search", "node communication", "--json", data=sample_data)
    assert len(json.loads(found.stdout)["results"]) == 5
    health = garden_process("health", "--json", data=sample_data)
    assert json.loads(health.stdout)["status"] == "healthy"


def test_ingest_again_changes_nothing(data: Path, tmp_path: Path) -> None:
    """Ingesting the same file twice adds it once; a broken file is named and skipped."""
    source = tmp_path / "notes.md"
    source.write_text("# Notes\n\nThe lighthouse of Larkfield stands on the northern pier.\n")
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4 nothing")
    first = json.loads(garden("ingest", str(source), str(broken), "--json", data=tmp_path / "g").stdout)
    second = json.loads(garden("ingest", str(source), "--json", data=tmp_path / "g").stdout)
    assert (first["added"], first["skipped"][0]["path"]) == (1, "broken.pdf")
    assert (second["added"], second["unchanged"]) == (0, 1)


def test_sources_are_noted_for_a_rebuild(tmp_path: Path) -> None:
    """``garden ingest`` keeps absolute paths beside the collection; a file that is no export is one line, status 2."""
    source = tmp_path / "notes.md"
    source.write_text("# Notes\n\nThe lighthouse of Larkfield stands on the northern pier.\n")
    assert garden("ingest", str(source), data=tmp_path / "g").exit_code == 0
    assert read_sources(tmp_path / "g" / "corporate_documents") == [source]
    broken = garden("import", str(source), data=tmp_path / "g")
    assert (broken.exit_code, broken.stderr.count("\n")) == (2, 1)
    assert "Nothing was imported" in broken.stderr
