"""The README says what the code does: its drawings, tables, commands and paths are compared with the project."""

from __future__ import annotations

import importlib.util
import re
from types import ModuleType

import pytest

from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def render() -> ModuleType:
    """``docs/render.py``, which is a script."""
    spec = importlib.util.spec_from_file_location("render", ROOT / "docs" / "render.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_drawing_and_settings_are_the_codes_own(render: ModuleType) -> None:
    """CONTRIBUTING.md's drawing of the graph and the table of docs/settings.md are what ``make docs`` would write."""
    for block, page in render.PAGES.items():
        text = page.read_text(encoding="utf-8")
        assert text.count(f"<!-- begin {block}") == text.count(f"<!-- end {block} -->") == 1
        assert render.rendered(text) == text
    assert "no_answer;" in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert "| `RELEVANCE_THRESHOLD` | `0.8` |" in (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


def test_steps_are_those_of_the_graph(render: ModuleType) -> None:
    """The README's table of steps has every node of the graph, and where each goes on to."""
    rows = re.findall(
        r"^\| `(\w+)` \|.*\| ([^|]*) \|$", README.partition("| step |")[2].partition("\n\n")[0], re.MULTILINE
    )
    following = {step: {name.strip("`") for name in names.split(", ")} for step, names in rows}
    drawn = re.findall(r"^\t(\w+) -\.?->? (.*);$", render.graph().replace("__end__", "end"), re.MULTILINE)
    assert following == {step: set(names.split(" & ")) for step, names in drawn if step != "__start__"}


def test_paths_in_the_readme_exist() -> None:
    """Every file or folder the README and CONTRIBUTING.md name is there."""
    text = README + (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    folders = "answering|app|graph|prompts|knowledge|tests|training|docs|bench|deploy"
    named = set(re.findall(rf"`((?:{folders})/[\w./-]*)`", text))
    assert len(named) > 30
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_commands_in_the_readme_exist() -> None:
    """Every ``make`` target and ``garden`` command the README names is one."""
    from typer.main import get_command

    from app.cli.main import app

    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"\bmake ([a-z]+)", README)) <= targets
    commands = set(get_command(app).commands)  # type: ignore[attr-defined]  # a group has commands
    assert set(re.findall(r"`garden ([a-z]+)", README)) | {"ingest"} <= commands


def test_text_names_no_machine() -> None:
    """Nothing a reader gets carries a path or a host of the machine it was written on."""
    shown = [README, *(path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md"))]
    assert not [text[:60] for text in shown if re.search(r"/(?:root|home|Users|tmp)/\w", text)]
