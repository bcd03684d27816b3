"""What stands in a Word document outside its plain paragraphs is read where Word prints it, or named."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest
from docx.oxml import parse_xml

from tests.app.ingest.conftest import load_one, texts

SPACES = (
    'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" '
    'xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" '
    'xmlns:wps="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" '
    'xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006" '
    'xmlns:v="urn:schemas-microsoft-com:vml"'
)
BOX = "<w:txbxContent><w:p><w:r><w:t>Ring twice.</w:t></w:r></w:p></w:txbxContent>"
DRAWN = f"<w:drawing><wps:txbx>{BOX}</wps:txbx></w:drawing>"
OLDER = f"<mc:Fallback><w:pict><v:shape><v:textbox>{BOX}</v:textbox></v:shape></w:pict></mc:Fallback>"
CHOICE = (
    '<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:ddList><w:result w:val="1"/><w:listEntry w:val="red"/>'
    '<w:listEntry w:val="teal"/></w:ddList></w:ffData></w:fldChar></w:r><w:r><w:instrText>FORMDROPDOWN</w:instrText>'
    '</w:r><w:r><w:fldChar w:fldCharType="end"/></w:r>'
)
PAGE = '<w:fldSimple w:instr=" PAGE "><w:r><w:t>1</w:t></w:r></w:fldSimple>'


def written(text: str) -> str:
    return f'<w:r><w:t xml:space="preserve">{text}</w:t></w:r>'


def field(instruction: str, value: str) -> str:
    return f'<w:fldSimple w:instr=" {instruction} ">{written(value)}</w:fldSimple>'


def formula(parts: str) -> str:
    return f"<m:oMathPara><m:oMath>{parts}</m:oMath></m:oMathPara>"


def term(text: str) -> str:
    return f"<m:r><m:t>{text}</m:t></m:r>"


def put(part: Any, *pieces: str) -> None:
    """Add a paragraph of raw XML to a document, a header or a footer."""
    paragraph = part.add_paragraph()._p
    for piece in parse_xml(f"<w:p {SPACES}>{''.join(pieces)}</w:p>"):
        paragraph.append(piece)


@pytest.mark.parametrize(
    ("pieces", "shown"),
    [
        ([written("Rent "), field("MERGEFIELD Rent", "780"), written(" euros.")], ["Rent 780 euros."]),
        ([formula(f"{term('A = ')}<m:sSup><m:e>{term('r')}</m:e><m:sup>{term('2')}</m:sup></m:sSup>")], ["A = r^2"]),
        ([formula(f"<m:f><m:num>{term('a + b')}</m:num><m:den>{term('2')}</m:den></m:f>")], ["(a + b)/2"]),
        (
            [written("Colour: "), CHOICE],
            ["Colour: teal"],
        ),
        ([f"<w:ruby><w:rt>{written('kan')}</w:rt><w:rubyBase>{written('漢')}</w:rubyBase></w:ruby>"], ["漢"]),
        ([written("The bell."), f"<w:r>{DRAWN}</w:r>"], ["The bell.", "Ring twice."]),
        (
            [f"<w:r><mc:AlternateContent><mc:Choice>{DRAWN}</mc:Choice>{OLDER}</mc:AlternateContent></w:r>"],
            ["Ring twice."],
        ),
    ],
)
def test_fields_formulas_and_text_boxes(pieces: list[str], shown: list[str], tmp_path: Path) -> None:
    """The result of a field, a formula in one line, the chosen entry and a box's text are read, each once."""
    put(made := docx.Document(), *pieces)
    made.save(str(path := tmp_path / "a.docx"))
    assert texts(load_one(path)) == shown


def test_what_word_hides_and_what_is_not_read_is_named(tmp_path: Path) -> None:
    """Hidden text is left out and quoted; comments are counted, and an element that is not read is named."""
    made = docx.Document()
    paragraph = made.add_paragraph("The lift stops at noon.")
    paragraph.add_run(" Ask Greta first.").font.hidden = True
    made.add_comment(paragraph.runs[:1], "Or at one?")
    put(made, f"<w:unknown>{written('lost words')}</w:unknown><w:empty/>")
    made.save(str(path := tmp_path / "a.docx"))
    document = load_one(path)
    assert texts(document) == ["The lift stops at noon."]
    assert document.notes == (
        'hidden text is not read: "Ask Greta first."',
        'the text in elements "unknown" of the file is not read',
        "not read: 1 comment",
    )


def test_page_headers_and_footers_are_read_once(tmp_path: Path) -> None:
    """What is printed above and below every page stands once above and below the text, without a bare page number."""
    made = docx.Document()
    made.add_heading("Delivery note", 1)
    made.add_paragraph("Twelve crates of tiles.")
    put(made.sections[0].header, written("Number L-806"))
    put(made.sections[0].footer, written("Page "), PAGE)
    put(made.sections[0].footer, written("Pay by 3 June. Page "), PAGE)
    second = made.add_section()
    second.header.is_linked_to_previous = False
    put(second.header, written("Number L-806"))
    put(second.first_page_header, written("An unused first page"))
    made.save(str(path := tmp_path / "a.docx"))
    assert texts(load_one(path)) == ["Number L-806", "Twelve crates of tiles.", "Pay by 3 June. Page 1"]


def test_a_footnote_stands_below_its_paragraph(tmp_path: Path) -> None:
    """Not at the end, in the last section, and two in their order; marks, which read as citations, are left out."""
    made = docx.Document()
    for text, notes in (("First", (2, 3)), ("Second", ())):
        made.add_heading(text, 1)
        marks = [f'<w:r><w:footnoteReference w:id="{note}"/></w:r>' for note in notes]
        put(made, written(f"Of the {text.lower()}."), *marks)
    made.save(path := tmp_path / "a.docx")
    body = "".join(
        f'<w:footnote w:id="{note}"><w:p>{written(text)}</w:p></w:footnote>'
        for note, text in ((2, "Not in August."), (3, "Nor in May."))
    )
    kind = "application/vnd.openxmlformats-officedocument.wordprocessingml.footnotes+xml"
    relation = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/footnotes"
    added = {
        "</Types>": f'<Override PartName="/word/footnotes.xml" ContentType="{kind}"/>',
        "</Relationships>": f'<Relationship Id="n1" Type="{relation}" Target="footnotes.xml"/>',
    }
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(noted := tmp_path / "b.docx", "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name in ("[Content_Types].xml", "word/_rels/document.xml.rels"):
                for end, element in added.items():
                    content = content.replace(end.encode(), f"{element}{end}".encode())
            target.writestr(name, content)
        target.writestr("word/footnotes.xml", f"<w:footnotes {SPACES}>{body}</w:footnotes>")
    assert [(block.section, block.text) for block in load_one(noted).blocks] == [
        ("First", "Of the first."),
        ("First", "Not in August."),
        ("First", "Nor in May."),
        ("Second", "Of the second."),
    ]
