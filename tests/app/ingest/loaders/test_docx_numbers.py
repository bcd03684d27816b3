"""The numbers that Word computes are read as it prints them, though the file has only their rules."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.oxml import parse_xml

from tests.app.ingest.conftest import load_one, texts

SPACE = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
RESTART = '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="{}"/></w:lvlOverride>'
SECOND = '<w:pPr><w:numPr><w:numId w:val="2"/></w:numPr></w:pPr>'
ELSEWHERE = f'<w:style {SPACE} w:type="numbering" w:styleId="L">{SECOND}</w:style>'
KEPT = '<w:lvlRestart w:val="0"/>'


def level(at: int, form: str, text: str, rest: str = "", start: int = 1) -> str:
    """A level of a list."""
    rules = f'<w:start w:val="{start}"/><w:numFmt w:val="{form}"/>{rest}<w:lvlText w:val="{text}"/>'
    return f'<w:lvl w:ilvl="{at}">{rules}</w:lvl>'


def linked(at: int, form: str, text: str, rest: str = "", start: int = 1) -> str:
    """A level that the style of a heading is linked with."""
    return level(at, form, text, f'<w:pStyle w:val="Heading{at + 1}"/>{rest}', start)


def numbered(lists: Sequence[str], others: str = "") -> Any:
    """A document whose headings are numbered by the first of these lists; list 9 is the last one with *others*."""
    made = docx.Document()
    numbering = made.part.numbering_part.element
    for element in list(numbering):
        numbering.remove(element)
    for at, levels in enumerate(lists, 1):
        numbering.append(parse_xml(f'<w:abstractNum {SPACE} w:abstractNumId="{at}">{levels}</w:abstractNum>'))
    for number, at, rest in [*((at, at, "") for at in range(1, len(lists) + 1)), (9, len(lists), others)]:
        name = f'<w:num {SPACE} w:numId="{number}"><w:abstractNumId w:val="{at}"/>{rest}</w:num>'
        numbering.append(parse_xml(name))
    for depth in (depth for depth in (1, 2, 3) if f'"Heading{depth}"' in "".join(lists)):
        rules = made.styles[f"Heading {depth}"].element.get_or_add_pPr()
        rules.append(parse_xml(f'<w:numPr {SPACE}><w:numId w:val="1"/></w:numPr>'))
    return made


def put(made: Any, text: str, number: int, at: int = 0) -> None:
    """Add a paragraph that names a list and a level."""
    rules = made.add_paragraph(text)._p.get_or_add_pPr()
    rules.append(parse_xml(f'<w:numPr {SPACE}><w:ilvl w:val="{at}"/><w:numId w:val="{number}"/></w:numPr>'))


@pytest.mark.parametrize(
    ("levels", "shown"),
    [
        (
            [linked(0, "decimal", "%1"), linked(1, "decimal", "%1.%2"), linked(2, "decimal", "%1.%2.%3")],
            ["1 Aims", "1.1 Name", "1.2 Seat", "2 Bodies", "2.1 Board", "2.1.1 Chair", "2.2 Audit"],
        ),
        (
            [
                linked(0, "upperRoman", "Part %1"),
                linked(1, "decimal", "Article %2", KEPT),
                linked(2, "lowerLetter", "(%3)"),
            ],
            "Part I Aims/Article 1 Name/Article 2 Seat/Part II Bodies/Article 3 Board/(a) Chair/Article 4 Audit".split(
                "/"
            ),
        ),
        (
            [linked(0, "upperLetter", "%1.", start=27), linked(1, "lowerRoman", "%2)", start=3)],
            ["AA. Aims", "iii) Name", "iv) Seat", "BB. Bodies", "iii) Board", "Chair", "iv) Audit"],
        ),
        (
            [linked(0, "upperRoman", "%1"), linked(1, "decimal", "§ %1.%2", "<w:isLgl/>"), linked(2, "bullet", "•")],
            ["I Aims", "§ 1.1 Name", "§ 1.2 Seat", "II Bodies", "§ 2.1 Board", "Chair", "§ 2.2 Audit"],
        ),
        (
            ['<w:numStyleLink w:val="L"/>'],
            ["Rule 8 Aims", "8-01 Name", "8-02 Seat", "Rule 9 Bodies", "9-01 Board", "Chair", "9-02 Audit"],
        ),
        (
            [linked(0, "none", ""), linked(1, "lowerLetter", "%2", start=999_999_999), level(99, "decimal", "%9")],
            ["Aims", "999999999 Name", "1000000000 Seat", "Bodies", "999999999 Board", "Chair", "1000000000 Audit"],
        ),
    ],
)
def test_headings_have_their_numbers(levels: list[str], shown: list[str], tmp_path: Path) -> None:
    """A heading begins with the number of its style's level, in its form, counted from its start and begun anew."""
    other = linked(0, "decimal", "Rule %1", start=8) + linked(1, "decimalZero", "%1-%2")
    made = numbered(["".join(levels), other])
    made.styles.element.append(parse_xml(ELSEWHERE))
    outline = [(1, "Aims"), (2, "Name"), (2, "Seat"), (1, "Bodies"), (2, "Board"), (3, "Chair"), (2, "Audit")]
    for depth, name in outline:
        made.add_heading(name, depth)
        made.add_paragraph(f"Of {name.lower()}.")
    made.save(str(path := tmp_path / "a.docx"))
    assert [block.section for block in load_one(path).blocks] == shown


def test_items_have_their_numbers(tmp_path: Path) -> None:
    """A number goes on after text, begins anew where the file says so, and stands for the bullet where it is short."""
    items = level(0, "decimal", "%1.") + level(1, "lowerLetter", "(%2)") + level(2, "decimal", "%1.%2.%3")
    made = numbered([linked(0, "decimal", "%1"), level(0, "bullet", "•"), items], RESTART.format(4))
    for text, at in ("Sign in.", 0), ("With a key,", 1), ("or a code.", 1), ("Six digits.", 2):
        put(made, text, 3, at)
    made.add_paragraph("Then:")
    put(made, "Sign out.", 3)
    made.add_paragraph("Later:")
    put(made, "Lock up.", 9)
    made.add_paragraph("Bring:")
    put(made, "A torch.", 2)
    hidden = made.add_heading("Draft", 1)
    hidden.runs[0].font.hidden = True
    hidden._p.get_or_add_pPr().append(parse_xml(f"<w:rPr {SPACE}><w:vanish/></w:rPr>"))
    plain = made.add_heading("Preface", 1)
    plain._p.get_or_add_pPr().append(parse_xml(f'<w:numPr {SPACE}><w:numId w:val="0"/></w:numPr>'))
    made.add_paragraph("Of the house.")
    made.add_heading("Keys", 1)
    made.add_paragraph("Of keys.")
    made.save(str(path := tmp_path / "a.docx"))
    document = load_one(path)
    assert texts(document) == [
        "1. Sign in.\n  (a) With a key,\n  (b) or a code.\n    - 1.b.1 Six digits.",
        *("Then:", "2. Sign out.", "Later:", "4. Lock up.", "Bring:", "- A torch.", "Of the house.", "Of keys."),
    ]
    assert [block.section for block in document.blocks[-2:]] == ["Preface", "1 Keys"]
