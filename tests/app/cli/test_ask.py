"""The terminal: what a person reads there, and what a program does."""

from __future__ import annotations

import json
import os
import pty
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, suppress
from functools import partial
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from app.cli.main import app
from app.cli.shared import advised
from app.query_service.conversations import FILE
from graph import errors
from graph.errors import RAGError
from tests.app.api.test_query_api import CHEMICALS
from tests.peers.ports import held_port
from tests.support.paths import ROOT

GARDEN = str(Path(sys.executable).with_name("garden"))
runner = CliRunner()


def on_a_terminal(*arguments: str, **settings: str) -> str:
    """What ``garden`` with these arguments shows on a terminal, control sequences included."""
    ours, theirs = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/"), "TERM": "xterm", **settings}
    command = [sys.executable, "-m", "app.cli", *arguments]
    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=ROOT, preexec_fn=heard
    ) as process:
        os.close(theirs)
        shown = b""
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # Linux says so when the last writer has closed the terminal
            pass
        process.wait(60)
    os.close(ours)
    return shown.decode()


def test_garden_alone_lists_every_command() -> None:
    """``garden`` succeeds and lists what ``garden --help`` lists, the commands people need first."""
    shown, asked = runner.invoke(app, []), runner.invoke(app, ["--help"])
    assert shown.exit_code == asked.exit_code == 0
    assert shown.stdout.strip() == asked.stdout.strip()
    named = re.findall(r"^│ ([a-z]+)  ", shown.stdout, re.MULTILINE)
    assert named[:5] == ["serve", "ingest", "ask", "search", "health"]
    assert named == list(get_command(app).commands)  # type: ignore[attr-defined]  # a group has commands


def test_every_command_prints_json() -> None:
    """Every command takes ``--json``, and says so; but for ``mcp``, whose output is a protocol in JSON."""
    for name in get_command(app).commands:  # type: ignore[attr-defined]  # a group has commands
        shown = runner.invoke(app, [name, "--help"])
        assert shown.exit_code == 0, shown.output
        assert ("--json" in shown.stdout) is (name != "mcp"), name
        assert f"Usage: garden {name} " in shown.stdout


def test_every_outage_says_what_to_do_next() -> None:
    """Each error that a part can cause has advice in the same line; a wrong setting or input says what is allowed."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, RAGError)]
    outages = [kind for kind in kinds if kind.outcome not in (None, "invalid_input")]
    assert len(outages) >= 7
    for kind in outages:
        line = advised("It broke.", kind.__name__)
        assert line.startswith("It broke. "), kind
        assert line.endswith("."), kind
        assert "\n" not in line
    assert advised("PORT=0 is not allowed", "ConfigurationError") == "PORT=0 is not allowed"


def test_an_empty_collection_says_how_to_ingest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A search, or a question, over an empty collection names the command that changes that."""
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    found = runner.invoke(app, ["search", "anything"])
    assert (found.exit_code, found.stdout) == (1, "")
    assert "garden ingest" in found.stderr
    asked = runner.invoke(app, ["ask", "anything at all?"])
    assert asked.exit_code == 0
    assert "garden ingest" in asked.stderr
    assert json.loads(runner.invoke(app, ["ask", "anything at all?", "--json"]).stdout)["citedDocuments"] == []


def test_a_decline_shows_where_the_closest_passages_stand(sample_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each with title, document, section, page and relevance above its text, the nearest first; nothing is cited."""
    monkeypatch.setenv("DATA_DIR", str(sample_data))
    asked = runner.invoke(app, ["ask", "How many vacation days does the Hamburg office carry over for night watchmen?"])
    answer, closest = asked.stdout.split("\n\nClosest passages:\n")
    assert "[1]" not in answer
    found = re.findall(r"^(\S.*)  (\S+\.\w+)( · .+)? · relevance (\d\.\d\d)\n    \S", closest, re.MULTILINE)
    assert ("HR Policy", "hr_policy.pdf", " · 1 Vacation · page 1") in [row[:3] for row in found]
    assert len(found) == 3
    assert [row[3] for row in found] == sorted((row[3] for row in found), reverse=True)


def test_a_chat_understands_follow_ups(sample_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--chat` reads a question a line, says as what a follow-up was asked, and leaves nothing of it behind."""
    data = shutil.copytree(sample_data, tmp_path / "data", ignore=shutil.ignore_patterns(f"{FILE}*"))
    monkeypatch.setenv("DATA_DIR", str(data))
    asked = runner.invoke(app, ["ask", CHEMICALS, "--chat"], input="and for visitors?\n\nWhat is ROS 2?\n")
    assert asked.exit_code == 0, asked.output
    assert "goggles" in asked.stdout
    assert asked.stdout.count("Asked as: ") == 1
    assert "Asked as: What are the safety protocols for visitors?" in asked.stdout
    assert "building robot applications" in asked.stdout
    lines = runner.invoke(app, ["ask", "--chat", "--json"], input=f"{CHEMICALS}\nand for visitors?\n").stdout
    first, second = (json.loads(body) for body in re.split(r"(?<=^})\n", lines.strip(), flags=re.MULTILINE))
    assert "rewritten" not in first
    assert second["rewritten"] == "What are the safety protocols for visitors?"
    assert runner.invoke(app, ["ask"]).exit_code == 2
    with closing(sqlite3.connect(data / FILE)) as connection:
        assert connection.execute("SELECT * FROM conversations").fetchall() == []


@pytest.mark.parametrize("ending", ["Ctrl+C", "Ctrl+D"])
def test_a_chat_on_a_terminal_ends_as_terminals_do(sample_data: Path, ending: str) -> None:
    """A terminal prompts for each question; Ctrl+D, and Ctrl+C at the prompt, end the chat with status 0."""
    ours, theirs = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm", "DATA_DIR": str(sample_data)}
    command = [sys.executable, "-m", "app.cli", "ask", "--chat"]
    shown = b""

    def prompted() -> None:
        nonlocal shown
        part = b""
        while not part.endswith(b"\n? "):
            part += os.read(ours, 65536)
        shown += part

    heard = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=ROOT, preexec_fn=heard
    ) as process:
        os.close(theirs)
        for typed in (b"What is ROS 2?\n", b"And how does it handle node communication?\n"):
            prompted()
            os.write(ours, typed)
        prompted()
        if ending == "Ctrl+D":
            os.write(ours, b"\x04")
        while process.poll() is None:
            if ending == "Ctrl+C":  # one that comes between the prompt and the wait for a line is seen with the next
                process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(10)
        assert process.returncode == 0
    os.close(ours)
    assert b"Asked as: How does ROS 2 handle node communication?" in shown


def test_bad_health_says_what_to_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A chat model that is down is named with what to check, and search still works: status 0."""
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    monkeypatch.setenv("CHAT_MODEL", "ollama:llama3.2:1b")
    with held_port() as nobodys:
        monkeypatch.setenv("OLLAMA_HOST", f"http://127.0.0.1:{nobodys}")
        found = runner.invoke(app, ["health"])
    assert found.exit_code == 0, found.output
    assert "degraded" in found.stdout
    assert "OLLAMA_HOST" in found.stdout


def test_colour_only_where_it_is_wanted() -> None:
    """Errors are red on a terminal, plain with ``NO_COLOR`` and plain in a pipe."""
    wrong = {"RELEVANCE_THRESHOLD": "7"}
    assert "\x1b[31mgarden: RELEVANCE_THRESHOLD" in on_a_terminal("serve", **wrong)
    assert "\x1b[" not in on_a_terminal("serve", **wrong, NO_COLOR="1")
    piped = subprocess.run(
        [GARDEN, "serve"], env={**os.environ, **wrong}, capture_output=True, text=True, timeout=60, check=False
    )
    assert piped.stderr.startswith("garden: RELEVANCE_THRESHOLD")
    assert piped.returncode == 2


def test_ingest_shows_its_progress(tmp_path: Path) -> None:
    """On a terminal, ingest shows files done of all, and an estimate of the rest."""
    for number in range(3):
        (tmp_path / f"n{number}.md").write_text(f"# Note {number}\n\nThe pier of Larkfield has {number} lamps.\n")
    shown = on_a_terminal("ingest", str(tmp_path), DATA_DIR=str(tmp_path / "data"))
    assert "ingesting" in shown
    assert "/3" in shown
    assert "files" in shown
    assert ":--" in shown or "0:00:0" in shown
    assert "3 added" in shown


def test_completion_completes(tmp_path: Path) -> None:
    """``--install-completion`` writes what bash reads at its start, and the script it shows completes commands."""
    home = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    install = subprocess.run(
        ["bash", "-c", f"{GARDEN} --install-completion; true"], env=home, capture_output=True, text=True, timeout=60
    )
    assert "completion installed" in install.stdout + install.stderr
    assert (tmp_path / ".bashrc").exists()
    words = "COMP_WORDS=(garden in) COMP_CWORD=1; _garden_completion " + GARDEN + "; printf '%s\\n' \"${COMPREPLY[@]}\""
    script = f'eval "$({GARDEN} --show-completion)"; {words}'
    done = subprocess.run(["bash", "-c", script], env=home, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["ingest"], done.stderr
