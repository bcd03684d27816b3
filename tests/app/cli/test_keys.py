"""``garden keys``: made, shown once, listed and removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from app.cli.main import app as command
from app.ops.key_file import KeyFile, digest


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATA_DIR", str(tmp_path))


def keys(*arguments: str) -> Result:
    return CliRunner().invoke(command, ["keys", *arguments])


def test_a_key_is_printed_once_and_listed_without_it(tmp_path: Path) -> None:
    """``add`` prints the key alone on stdout; ``list`` shows what it sees, and neither key nor hash."""
    made = keys("add", "hr-bot", "--collections", "hr, it", "--read-only")
    assert made.exit_code == 0, made.output
    key = made.stdout.strip()
    (row,) = KeyFile(tmp_path).read()
    assert (row.sha256, row.collections, row.read_only) == (digest(key), ("hr", "it"), True)
    listed = keys("list", "--json").stdout
    assert json.loads(listed)["keys"][0] == {
        "name": "hr-bot", "collections": ["hr", "it"], "readOnly": True, "created": row.created
    }  # fmt: skip
    assert not {word for word in (key, row.sha256) if word in listed + keys("list").stdout}
    assert keys("remove", "hr-bot").exit_code == 0
    assert KeyFile(tmp_path).read() == ()


@pytest.mark.parametrize(
    "arguments",
    [
        ["add"],
        ["add", "x"],
        ["add", "x", "--collections", ","],
        ["add", "x", "--collections", "../y"],
        ["add", "a/b", "--collections", "y"],
        ["add", "taken", "--collections", "y"],
        ["remove", "nobody"],
    ],
)
def test_what_cannot_be_done_is_one_line(arguments: list[str]) -> None:
    """A missing name, no collection, a name that is taken or not there: status 2, one line, nothing changed."""
    assert keys("add", "taken", "--collections", "x").exit_code == 0
    refused = keys(*arguments)
    assert (refused.exit_code, refused.stdout, refused.stderr.count("\n")) == (2, "", 1), refused.output
    assert len(json.loads(keys("list", "--json").stdout)["keys"]) == 1
