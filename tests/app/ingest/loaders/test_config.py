"""Settings are read by their names, and source code for what it says in sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.ingest.find import FoundFile, find_files
from tests.app.ingest.conftest import load_one, texts

SETTINGS = {
    "yaml": "# The pump runs at night.\npump: &p\n  start: 02:30\n  spare: no\nvalve:\n  <<: *p\n  spare: 1.20 # old\n",
    "toml": "# The pump runs at night.\n# start = 7\n[pump]\nstart = 02:30:00\nspare = 'no'\n[valve]\nspare = 1.20\n",
    "ini": "; The pump runs at night.\n; start = 7\n[pump]\nstart = 02:30\nspare = no\n[valve]\nspare = 1.20\n",
}


@pytest.mark.parametrize("suffix", SETTINGS)
def test_settings(suffix: str, tmp_path: Path) -> None:
    """Values stand as written below the names that lead to them; comments are text where they are sentences."""
    (path := tmp_path / f"a.{suffix}").write_text(SETTINGS[suffix])
    document = load_one(path)
    found = {(block.section, line) for block in document.blocks for line in block.text.split("\n")}
    time = "- start: 02:30:00" if suffix == "toml" else "- start: 02:30"
    assert {("pump", time), ("pump", "- spare: no"), ("valve", "- spare: 1.20")} <= found
    assert ("Line 1", "The pump runs at night.") in found
    assert document.notes == ("comments that are no sentences are not read, lines: 1",)


COMMENTED = {
    "kiln.yaml": "firing:\n  # slower for thick clay\n  rise_per_hour: 80\n  hold: 20 # minutes at the top\n",
    "kiln.toml": "[firing]\n# slower for thick clay\nrise_per_hour = 80\nhold = 20 # minutes at the top\n",
    "kiln.env.example": "# ---- firing ----\n# slower for thick clay\nRISE_PER_HOUR=80\nexport HOLD=20\nKEY=\n",
    "kiln.ini.sample": "[firing]\n; slower for thick clay\nrise_per_hour = 80\nhold = 20\n",
}


@pytest.mark.parametrize("name", COMMENTED)
def test_a_comment_stands_with_its_setting(name: str, tmp_path: Path) -> None:
    """What is said beside a setting, or right above it, is read behind its value, sentence or not."""
    (path := tmp_path / name).write_text(COMMENTED[name])
    lines = "\n".join(texts(load_one(path))).lower().split("\n")
    assert "- rise_per_hour: 80 – slower for thick clay" in lines
    assert "- hold: 20 – minutes at the top" in lines or "#" not in COMMENTED[name].split("80")[1]


def test_a_comment_that_may_be_of_another_setting_is_not_given_to_both(tmp_path: Path) -> None:
    """Of two settings alike of which one is explained, none gets the words; a note tells of them."""
    (path := tmp_path / "a.ini").write_text("[plate]\n; foil with a metal back\nmodel = Z4\n[box]\nmodel = Z4\n")
    document = load_one(path)
    assert texts(document) == ["- model: Z4", "- model: Z4"]
    assert document.notes == ("comments that are no sentences are not read, lines: 1",)


def test_examples_of_settings_are_found(tmp_path: Path) -> None:
    """An example of an environment file is read though its name begins with a point; the file with secrets is not."""
    for name in (".env.example", ".env", ".env.local", "shop.env.dist", ".git.example"):
        (tmp_path / name).write_text("DB_PORT=5436\n")
    assert [file.source for file in find_files(tmp_path) if isinstance(file, FoundFile)] == [
        ".env.example",
        "shop.env.dist",
    ]


def test_properties(tmp_path: Path) -> None:
    """Properties have no sections, and their values may go on in the next line."""
    (path := tmp_path / "a.properties").write_text("mail.host=mail.example\nmail.to=Ann, \\\n  Bo\n")
    assert texts(load_one(path)) == ["- mail.host: mail.example\n- mail.to: Ann, Bo"]


@pytest.mark.parametrize(
    ("name", "content", "noted"),
    [
        ("a.yaml", "pump: 1\npump: 2\n", True),
        ("a.yml", "pump: {{ start }}\n", True),
        ("a.toml", "pump = 1\npump = 2\n", True),
        ("a.ini", "[a]\npump = 1\npump = 2\n", True),
        ("a.conf", "server {\n  listen 80;\n}\n", False),
    ],
)
def test_what_is_in_no_form_of_settings_is_code(name: str, content: str, noted: bool, tmp_path: Path) -> None:
    """A file whose names stand twice, or that is a template or in a language of its own, is kept as it is."""
    (path := tmp_path / name).write_text(content)
    document = load_one(path)
    assert [block.kind for block in document.blocks] == ["code"]
    assert bool(document.notes) == noted


def test_settings_that_multiply(tmp_path: Path) -> None:
    """Aliases of aliases are not written out, and neither is what is nested without end."""
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
    for content in ("\n".join(lines), "a: &a [*a]", "[" * 20_000):
        (path := tmp_path / "a.yaml").write_text(content)
        assert [block.kind for block in load_one(path).blocks] == ["code"]


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        (
            "a.py",
            'class Pump:\n  """A pump of the hall."""\n\n  def start(self):\n    """Start it at half past two."""\n',
            [("Pump, line 1", "A pump of the hall."), ("Pump.start, line 4", "Start it at half past two.")],
        ),
        (
            "a.py",
            "#!/bin/python\n# The pump rests\n# on Sundays.\nx = 1\n# x = 2 * x\n",
            [("Line 2", "The pump rests on Sundays.")],
        ),
        ("a.sql", "CREATE TABLE a;\n-- Rows are kept for years.\n", [("Line 2", "Rows are kept for years.")]),
        ("a.java", "int a;\n/**\n * The pump rests here.\n */\n/* open", [("Line 2", "The pump rests here.")]),
        ("a.py", "def broken(:\n", []),
    ],
)
def test_sentences_of_code(name: str, code: str, said: list[tuple[str, str]], tmp_path: Path) -> None:
    """Documentation strings and comments that are sentences stand below their name or line; the code stays as it is."""
    (path := tmp_path / name).write_text(code)
    first, *others = load_one(path).blocks
    assert first.kind == "code"
    assert code.strip() in first.text
    assert [(block.section, block.text) for block in others] == said
