"""OpenDocument, RTF, JSON, logs and source code are read as a person reads them."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.app.ingest.conftest import load_one, skipped, texts

NAMESPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table", "style")
)
ODT = f"""<office:document-content {NAMESPACES}><office:automatic-styles><style:style style:name="P1"
style:parent-style-name="Title"/></office:automatic-styles><office:body><office:text>
<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:p text:style-name="P1">Site rules</text:p>
<text:h text:outline-level="1">Opening</text:h><text:p>Opens at<text:s/>8 <text:span>am</text:span>.<text:note>
<text:note-citation>1</text:note-citation><text:note-body><text:p>Not on Sundays.</text:p></text:note-body></text:note>
</text:p>
<text:list><text:list-item><text:p>Badge</text:p></text:list-item></text:list>
<table:table><table:table-row><table:table-cell><text:p>Part</text:p></table:table-cell><table:table-cell><text:p>Size</text:p>
</table:table-cell><table:table-cell><text:p>Price</text:p></table:table-cell></table:table-row><table:table-row>
<table:table-cell><text:p>Bolt</text:p></table:table-cell><table:table-cell/><table:table-cell><text:p>2</text:p>
</table:table-cell></table:table-row></table:table>
<text:section text:display="none"><text:p>secret</text:p></text:section>
</office:text></office:body></office:document-content>"""
RTF = r"""{\rtf1\ansi\ansicpg1252\deff0{\fonttbl{\f0 Arial;}}{\stylesheet{\s0 Normal;}{\s1\sb240\b heading 1;}}
{\info{\title Site rules}}\pard\plain\s1\b Opening\b0\par
\pard\plain Gr\'fc\'dfe, from \u8364?5.\par
\pard\outlinelevel0 Prices\par
\trowd\cellx1000\cellx2000\cellx3000\pard\intbl Part\cell Size\cell Price a|b\cell\row
\trowd\cellx1000\cellx2000\cellx3000\pard\intbl Bolt\cell \cell 2\cell\row
{\pard\'95\tab One\par}{\pard\'95\tab Two\par}\pard After{\footnote A note.}\par}"""


def test_an_opendocument_text(tmp_path: Path) -> None:
    """Title, headings, lists, tables, notes below their paragraph; no deleted text; a hidden section is named."""
    with zipfile.ZipFile(path := tmp_path / "a.odt", "w") as archive:
        archive.writestr("content.xml", ODT)
    document = load_one(path)
    assert (document.title, document.notes) == ("Site rules", ("a hidden section is not read",))
    assert [(block.section, block.text) for block in document.blocks] == [
        ("Opening", "Opens at 8 am."),
        ("Opening", "Not on Sundays."),
        ("Opening", "- Badge"),
        ("Opening", "| Part | Size | Price |\n| Bolt |  | 2 |"),
    ]


def test_what_stands_around_an_opendocument_text(tmp_path: Path) -> None:
    """Page headers and footers are read once, without page numbers; hidden words are quoted, comments counted."""
    inside = (
        "<text:p>Open at 8.<office:annotation><text:p>At 9?</text:p></office:annotation>"
        '<text:hidden-text text:is-hidden="true">The code is 5.</text:hidden-text></text:p>'
    )
    header = "<style:header><text:p>Rules R-7</text:p></style:header>"
    number = "<text:p>Page <text:page-number>1</text:page-number> of 2</text:p>"
    footer = f"<style:footer>{number}<text:p>Call 31</text:p></style:footer>"
    pages = f"<style:master-page>{header}{footer}</style:master-page><style:master-page>{header}</style:master-page>"
    body = f"<office:body><office:text>{inside}</office:text></office:body>"
    with zipfile.ZipFile(path := tmp_path / "a.odt", "w") as archive:
        archive.writestr("content.xml", f"<a {NAMESPACES}>{body}</a>")
        archive.writestr("styles.xml", f"<a {NAMESPACES}>{pages}</a>")
    document = load_one(path)
    assert texts(document) == ["Rules R-7", "Open at 8.", "Call 31"]
    assert document.notes == ('hidden text is not read: "The code is 5."', "not read: 1 comment")


def test_rich_text(tmp_path: Path) -> None:
    """Headings by style or outline level, accents, tables with empty cells and lists are read; footnotes are named."""
    (path := tmp_path / "a.rtf").write_text(RTF)
    document = load_one(path)
    assert (document.title, document.notes) == ("Site rules", ("footnotes are not read",))
    assert [(block.section, block.text) for block in document.blocks] == [
        ("Opening", "Grüße, from €5."),
        ("Prices", "| Part | Size | Price a\\|b |\n| Bolt |  | 2 |"),
        ("Prices", "• One\n• Two"),
        ("Prices", "After"),
    ]
    path.write_text("no RTF")
    assert skipped(path).reason == "not an RTF file"


@pytest.mark.parametrize(
    ("written", "shown", "hidden"),
    [
        (r"Rent is {\deleted\revauthdel1 610}{\revised\revauth1 640} euros.\par", ["Rent is 640 euros."], ()),
        (r"Rent is \deleted 61\'300 \deleted0 640 euros.\par", ["Rent is 640 euros."], ()),
        (
            r"The gate.{\v Its code {\b is} 8\u8364?.}\par",
            ["The gate."],
            ('hidden text is not read: "Its code is 8€."',),
        ),
        (r"A \v b\plain  c\par", ["A  c"], ('hidden text is not read: "b"',)),
        (
            r"Rents:\par\trowd\cellx9\pard\intbl Flat\cell Rent\cell\row\pard After.\par",
            ["Rents:", "| Flat | Rent |", "After."],
            (),
        ),
        (r"{\header Number 7\par}\headery708 Text.\par", ["Text."], ("page headers and footers are not read",)),
    ],
)
def test_what_rich_text_hides(written: str, shown: list[str], hidden: tuple[str, ...], tmp_path: Path) -> None:
    """Deleted and hidden text is no text, the latter is quoted; a table stands below the text above it."""
    (path := tmp_path / "a.rtf").write_text(rf"{{\rtf1\ansi\ansicpg1252 {written}}}")
    document = load_one(path)
    assert ([" ".join(text.split(" ")) for text in texts(document)], document.notes) == (shown, hidden)


@pytest.mark.parametrize(
    ("value", "blocks"),
    [
        (
            [{"id": 1, "tags": ["a", "b"]}, {"id": 2, "left": None}],
            [(None, None, "| id | tags | left |\n| 1 | a, b |  |\n| 2 |  |  |")],
        ),
        (["x", 2, None, True], [(None, None, "- x\n- 2\n- true")]),
        (
            {
                "title": "Depots",
                "north": {"opens": "9:00", "staff": [{"name": "Ann", "role": {"of": "lead"}}]},
                "old": {},
            },
            [
                (None, None, "- title: Depots"),
                ("north", "north", "- opens: 9:00"),
                ("north", "staff · Ann", "- name: Ann"),
                ("north", "staff · Ann · role", "- of: lead"),
            ],
        ),
    ],
)
def test_json(value: Any, blocks: list[tuple[str | None, str | None, str]], tmp_path: Path) -> None:
    """Records are a table, an object is a list of its values, and what is within it a section of the names above it."""
    (path := tmp_path / "a.json").write_text(json.dumps(value))
    assert [(block.chapter, block.section, block.text) for block in load_one(path).blocks] == blocks


def test_json_names_that_stand_twice(tmp_path: Path) -> None:
    """A name that an object has twice keeps both values, and a note names it."""
    (path := tmp_path / "a.json").write_text('{"gym": {"owner": "Ann", "hall": 2, "owner": "Bo", "hall": 2}}')
    document = load_one(path)
    assert texts(document) == ["- owner: Ann, Bo\n- hall: 2"]
    assert document.notes == ("names that stand twice in one object, of which all values are read: owner",)


def test_json_by_lines_and_what_is_none(tmp_path: Path) -> None:
    """A value a line is a list of them; what is not JSON is named, and so is what is nested without end."""
    (path := tmp_path / "a.json").write_text('{"a": 1}\n{"a": 2}\n')
    assert texts(load_one(path)) == ["| a |\n| 1 |\n| 2 |"]
    path.write_text("nope")
    assert skipped(path).reason.startswith("not JSON (Expecting value")
    path.write_text("[" * 100_000)
    assert skipped(path).reason == "nested too deeply"


def test_logs_and_code(tmp_path: Path) -> None:
    """A line of a log is an item with what is indented below it; code is kept as it is, in a fence of its language."""
    (path := tmp_path / "pump.log").write_text(
        "12:00 INFO start\n12:01 ERROR pump 2 failed\n  at valve\n\n12:02 stop\n"
    )
    assert texts(load_one(path)) == ["- 12:00 INFO start\n- 12:01 ERROR pump 2 failed\n  at valve\n- 12:02 stop"]
    (path := tmp_path / "a.py").write_text("def f():\n\n    return 3\n")
    assert (load_one(path).title, texts(load_one(path))) == ("a.py", ["```python\ndef f():\n\n    return 3\n```"])


def test_json_records_with_objects_in_them_stay_whole(tmp_path: Path) -> None:
    """Each is a row, with the names that lead to its values; a single one, or one with a list of records, is none."""
    record: dict[str, Any] = {"id": "A-07", "item": {"name": "elbow", "size": {"mm": 22}}, "stock": 340}
    (path := tmp_path / "a.json").write_text(json.dumps([record, record | {"id": "A-08", "stock": None}]))
    assert texts(load_one(path)) == [
        "| id | item name | item size mm | stock |\n| A-07 | elbow | 22 | 340 |\n| A-08 | elbow | 22 |  |"
    ]
    path.write_text(json.dumps([record, record | {"stock": [{"at": "Ulm"}, {"at": "Bern"}]}]))
    assert "| id |" not in "".join(texts(load_one(path)))
