"""XML: the records of an export are a table, other values lists; nothing outside the file is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.ingest.conftest import load_one, skipped, texts

BOATS = """<?xml version="1.0"?>
<!-- every Sunday -->
<b:hire xmlns:b="urn:boats" harbour="Pell" day="2026-03-02">
  <b:boat no="7"><b:name>Heron</b:name><b:berth pier="C">14</b:berth><b:dayRate>65.00</b:dayRate></b:boat>
  <b:boat no="9"><b:name>Tern &amp; Co</b:name><b:berth pier="A">2</b:berth><b:dayRate/></b:boat>
</b:hire>"""


def write(folder: Path, content: str, name: str = "hire.xml") -> Path:
    (path := folder / name).write_text(content, encoding="utf-8")
    return path


def test_records_are_a_table(tmp_path: Path) -> None:
    """Each record is a row, its attributes and elements columns; what stands beside them is a list."""
    table = (
        "| no | name | berth pier | berth value | dayRate |\n"
        "| 7 | Heron | C | 14 | 65.00 |\n| 9 | Tern & Co | A | 2 |  |"
    )
    found = [(block.section, block.text) for block in load_one(write(tmp_path, BOATS)).blocks]
    assert found == [(None, "- harbour: Pell\n- day: 2026-03-02"), ("boat", table)]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            "<tips><tip>Close the valve.</tip><tip>Drain the pipe.</tip></tips>",
            ["- Close the valve.\n- Drain the pipe."],
        ),
        ("<note><to>Ann</to><text>Bring <b>both</b> keys.</text></note>", ["- to: Ann\n- text: Bring both keys."]),
        ("<rota><shift day='Mon'><who>Bo</who></shift></rota>", ["- day: Mon\n- who: Bo"]),
        ("<html xmlns='http://www.w3.org/1999/xhtml'><body><p>Closed.</p></body></html>", ["Closed."]),
        ("<rates><rate value='3' unit='eur'>three</rate></rates>", ["- value: 3, three\n- unit: eur"]),
        ("<a>Open.<!-- till June --> Free.</a>", ["- Open. Free."]),
    ],
)
def test_other_forms(content: str, expected: list[str], tmp_path: Path) -> None:
    """Lists of texts, text with markup in it, single records and XHTML are read."""
    assert texts(load_one(write(tmp_path, content))) == expected


def test_what_is_no_xml(tmp_path: Path) -> None:
    """A broken file is read as code and a note says why; a picture is named."""
    document = load_one(write(tmp_path, "<rota><shift>Mon</rota>"))
    assert [block.kind for block in document.blocks] == ["code"]
    assert document.notes[0].startswith("read as code, not as XML: ")
    picture = "<svg xmlns='http://www.w3.org/2000/svg'><text>Pier C</text></svg>"
    assert skipped(write(tmp_path, picture)).reason == "a picture"


def test_entities_are_not_resolved(tmp_path: Path) -> None:
    """A file that names another, or multiplies itself, brings nothing in."""
    write(tmp_path, "The code is 4711.", "secret.txt")
    outside = f'<!DOCTYPE a [<!ENTITY s SYSTEM "file://{tmp_path}/secret.txt">]><a><b>x</b><c>&s;</c></a>'
    assert "4711" not in "\n".join(texts(load_one(write(tmp_path, outside))))
    bomb = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 9 if n else "ha"}">' for n in range(12))
    assert "haha" not in "\n".join(texts(load_one(write(tmp_path, f"<!DOCTYPE a [{bomb}]><a><c>&e11;</c></a>"))))
