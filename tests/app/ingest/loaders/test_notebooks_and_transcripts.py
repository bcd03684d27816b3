"""Notebooks and transcripts of meetings are read as text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.app.ingest.conftest import load_one, skipped, texts

VTT = """WEBVTT - Handover

NOTE recorded on Monday

STYLE
::cue { color: red }

1
00:00:01.000 --> 00:00:04.000 align:start
<v Ann Lee>The backup battery lasts

00:04.100 --> 00:06.000
<v Ann Lee>nineteen <b>hours</b>.

00:00:07.000 --> 00:00:09.000
<v Bo>Good.
"""


def notebook(*cells: dict[str, Any]) -> str:
    return json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4})


def test_a_transcript_is_what_was_said(tmp_path: Path) -> None:
    """The cues of one speaker are one paragraph after the name; times, comments, styles and tags are left out."""
    (path := tmp_path / "handover.vtt").write_text(VTT, encoding="utf-8")
    assert texts(load_one(path)) == ["Ann Lee: The backup battery lasts nineteen hours.", "Bo: Good."]


def test_captions_without_speakers_are_running_text(tmp_path: Path) -> None:
    """Sentences over several cues are whole, and a long text has paragraphs that end with a sentence."""
    cues = "\n\n".join(
        f"00:00:{n % 60:02}.000 --> 00:00:{n % 60:02}.900\nThe lid of\nkettle {n} stays shut." for n in range(60)
    )
    (path := tmp_path / "kitchen.vtt").write_bytes(f"WEBVTT\r\n\r\n{cues}".encode())
    found = texts(load_one(path))
    assert found[0].startswith("The lid of kettle 0 stays shut. The lid of kettle 1")
    assert len(found) > 1
    assert all(text.endswith("shut.") for text in found)


def test_a_notebook_has_its_text_code_and_output(tmp_path: Path) -> None:
    """Markdown cells have headings, code is code, printed lines and tables stand below it; pictures are left out."""
    table = "<table><tr><th>Gauge</th><th>Error</th></tr><tr><td>Velm</td><td>5.9 cm</td></tr></table>"
    cells = [
        {"cell_type": "markdown", "source": ["# River levels\n", "\n", "Data run **to 2027**."]},
        {
            "cell_type": "code",
            "source": "rate = 0.0035",
            "outputs": [
                {"output_type": "stream", "text": ["Velm: 5.9 cm\n", "Ostra: 3.2 cm\n"]},
                {"output_type": "display_data", "data": {"text/plain": ["<Figure with 1 Axes>"], "image/png": "aGk="}},
                {"output_type": "execute_result", "data": {"text/html": [table], "text/plain": "Gauge Error"}},
                {"output_type": "error", "traceback": ["no such file"]},
            ],
        },
        {"cell_type": "raw", "source": "Ask Hanne."},
    ]
    (path := tmp_path / "levels.ipynb").write_text(notebook(*cells), encoding="utf-8")
    document = load_one(path)
    assert document.title == "River levels"
    assert texts(document) == [
        "Data run to 2027.",
        "```python\nrate = 0.0035\n```",
        "Velm: 5.9 cm",
        "Ostra: 3.2 cm",
        "| Gauge | Error |\n| Velm | 5.9 cm |",
        "Ask Hanne.",
    ]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.vtt", "1\n00:00:01,000 --> 00:00:02,000\nThat is SubRip"),
        ("a.ipynb", "{}"),
        ("a.ipynb", "[1]"),
        ("a.ipynb", "{"),
        ("b.ipynb", '{"worksheets": []}'),
    ],
)
def test_what_is_none_is_named(name: str, text: str, tmp_path: Path) -> None:
    """Another format below the name is skipped with a reason."""
    (path := tmp_path / name).write_text(text, encoding="utf-8")
    assert "no " in skipped(path).reason


def test_a_cue_of_two_voices_is_two_paragraphs(tmp_path: Path) -> None:
    """What is escaped is written out; captions without a full stop end a paragraph at length."""
    cue = "00:01.000 --> 00:02.000\n<v Ann>R&amp;D costs 5.</v>\n<v Bo>Good.</v>"
    (path := tmp_path / "a.vtt").write_text(f"WEBVTT\n\n{cue}", encoding="utf-8")
    assert texts(load_one(path)) == ["Ann: R&D costs 5.", "Bo: Good."]
    cues = "\n\n".join(f"00:01.000 --> 00:02.000\nand then we go on to point {n}" for n in range(500))
    path.write_text(f"WEBVTT\n\n{cues}", encoding="utf-8")
    assert max(map(len, texts(load_one(path)))) < 2_000


@pytest.mark.parametrize("outputs", [5, True, None, [7, {"output_type": "stream", "text": 3}]])
def test_odd_outputs_are_no_failure(outputs: Any, tmp_path: Path) -> None:
    """Nor is metadata that says nothing."""
    cell = {"cell_type": "code", "source": "x = 1", "outputs": outputs}
    text = json.dumps({"cells": [cell, {"cell_type": "markdown", "source": "Hi."}, 4], "metadata": None})
    (path := tmp_path / "a.ipynb").write_text(text, encoding="utf-8")
    assert texts(load_one(path))[-1] == "Hi."
