"""Word, PowerPoint and Excel files are read with their headings, tables and slide numbers."""

from __future__ import annotations

import zipfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from docx.enum.style import WD_STYLE_TYPE
from pptx.util import Cm

from app.ingest.loaders.archive import MAX_UNPACKED_BYTES, reading
from app.ingest.loaders.text_encoding import decode
from tests.app.ingest.conftest import load, load_one, places, skipped, split_one, texts

OFFICE = [".docx", ".pptx", ".xlsx"]


def word(path: Path) -> Any:
    """A Word document of a title, two chapters, a list and a table."""
    made = docx.Document()
    made.core_properties.title = ""
    made.add_paragraph("Site rules", style="Title")
    made.add_paragraph("In force since May.")
    made.styles.add_style("toc 1", WD_STYLE_TYPE.PARAGRAPH)
    made.add_paragraph("Access 1", style="toc 1")
    made.add_heading("Access", 1)
    made.add_heading("Visitors", 2)
    made.add_paragraph("Every visitor signs the book.")
    made.add_paragraph("Badge", style="List Bullet")
    made.add_paragraph("Vest", style="List Bullet")
    made.add_heading("Carts", 1)
    made.add_heading("Limits", 2)
    table = made.add_table(rows=0, cols=2)
    for pair in [("Cart", "Top speed"), ("Electric", "6 km/h"), ("Manual", "4 km/h")]:
        for cell, text in zip(table.add_row().cells, pair, strict=True):
            cell.text = text
    made.save(str(path))
    return made


def slides(path: Path) -> Any:
    """A presentation: a title slide, one with bullets and notes, a hidden one, one with a table and no title."""
    made = pptx.Presentation()
    first = made.slides.add_slide(made.slide_layouts[0])
    first.shapes.title.text, first.placeholders[1].text = "Quarterly review", "For the board."
    second = made.slides.add_slide(made.slide_layouts[1])
    second.shapes.title.text = "Costs"
    frame = second.placeholders[1].text_frame
    frame.text = "Energy rose by 12%."
    below = frame.add_paragraph()
    below.text, below.level = "Gas more than power.", 1
    second.notes_slide.notes_text_frame.text = "Ask for the contract."
    hidden = made.slides.add_slide(made.slide_layouts[5])
    hidden.shapes.title.text = "Not shown"
    hidden._element.set("show", "0")
    last = made.slides.add_slide(made.slide_layouts[6])
    group = last.shapes.add_group_shape()
    group.shapes.add_textbox(Cm(1), Cm(1), Cm(5), Cm(1)).text_frame.text = "In a group."
    table = last.shapes.add_table(2, 2, Cm(1), Cm(3), Cm(8), Cm(2)).table
    for at, text in enumerate(["Site", "Staff", "Bern", "14"]):
        table.cell(at // 2, at % 2).text = text
    made.save(str(path))
    return made


def sheets(path: Path) -> Any:
    """A workbook: a sheet with a caption and empty columns, an empty, a hidden one, one of a formula's value."""
    made = openpyxl.Workbook()
    stock = made.active
    assert stock is not None
    stock.title = "Stock"
    stock.append(["Stock on 1 May"])
    stock.append([])
    stock.append(["Part", None, "Price", "Share", "Ordered", "Left"])
    stock.append(["Bolt", None, 0.1 + 0.2, 0.155, date(2026, 5, 1), True])
    stock.append(["Nut", None, 3.0, None, datetime.fromisoformat("2026-05-01 08:30"), None])
    stock["D4"].number_format = "0.0%"
    made.create_sheet("Empty")
    made.create_sheet("Lists").append(["Not shown", "here"])
    made["Lists"].sheet_state = "hidden"
    made.create_sheet("Days").append(["Holiday"])
    made["Days"].append([date(2026, 8, 1)])
    made.save(path)
    return made


MAKERS = {".docx": word, ".pptx": slides, ".xlsx": sheets}


def test_word(tmp_path: Path) -> None:
    """The paragraph of style Title is the title, headings make chapters and sections, tables keep headers."""
    word(path := tmp_path / "rules.docx")
    document = load_one(path)
    assert document.title == "Site rules"
    assert places(document) == [
        (None, None, None, "In force since May."),
        ("Access", "Visitors", None, "Every visitor signs "),
        ("Access", "Visitors", None, "- Badge\n- Vest"),
        ("Carts", "Limits", None, "| Cart | Top speed |"),
    ]
    assert texts(document)[-1] == "| Cart | Top speed |\n| Electric | 6 km/h |\n| Manual | 4 km/h |"
    assert document.blocks[-1].kind == "table"


def test_the_title_of_a_word_document_without_a_title(tmp_path: Path) -> None:
    """Of several chapters none is the title: it is the property, and without one, or with a made-up one, the name."""
    made = docx.Document()
    for name in ("First", "Second"):
        made.add_heading(name, 1)
        made.add_paragraph(f"Text of {name}.")
    for given, title in [("Handbook <1>", "Handbook <1>"), ("Word Document", "house rules"), ("", "house rules")]:
        made.core_properties.title = given
        made.save(str(path := tmp_path / "house_rules.docx"))
        document = load_one(path)
        assert document.title == title
        assert [block.section for block in document.blocks] == ["First", "Second"]


def test_pictures_of_word_are_not_read_and_links_not_followed(tmp_path: Path) -> None:
    """A picture, in the file or linked, leaves no trace in the text."""
    from PIL import Image

    Image.new("RGB", (2, 2)).save(picture := tmp_path / "a.png")
    made = docx.Document()
    made.add_paragraph("Before.")
    made.add_picture(str(picture))
    made.save(str(path := tmp_path / "a.docx"))
    assert texts(load_one(path)) == ["Before."]
    linked = rewritten(path, "word/_rels/document.xml.rels", "media/image1.png", picture.as_uri())
    linked = rewritten(linked, "word/document.xml", "r:embed=", "r:link=")
    assert texts(load_one(linked)) == ["Before."]


def test_powerpoint(tmp_path: Path) -> None:
    """A slide's title is the section and its number the page; lists, tables, groups and notes are read."""
    slides(path := tmp_path / "review.pptx")
    document = load_one(path)
    assert document.title == "Quarterly review"
    assert [(block.section, block.page, block.kind, block.text) for block in document.blocks] == [
        (None, 1, "prose", "For the board."),
        ("Costs", 2, "list", "- Energy rose by 12%.\n  - Gas more than power."),
        ("Costs", 2, "prose", "Speaker notes: Ask for the contract."),
        ("Slide 4", 4, "prose", "In a group."),
        ("Slide 4", 4, "table", "| Site | Staff |\n| Bern | 14 |"),
    ]
    assert {chunk.page for chunk in split_one(document).chunks} == {1, 2, 4}


def test_excel(tmp_path: Path) -> None:
    """A visible sheet is a section with a table below its header; values read as Excel shows them."""
    sheets(path := tmp_path / "stock_list.xlsx")
    document = load_one(path)
    assert document.title == "stock list"
    assert [(block.section, block.kind, block.text) for block in document.blocks] == [
        ("Stock", "prose", "Stock on 1 May"),
        (
            "Stock",
            "table",
            (
                "| Part | Price | Share | Ordered | Left |\n| Bolt | 0.3 | 15.5% | 2026-05-01 | TRUE |\n"
                "| Nut | 3 |  | 2026-05-01 08:30:00 |  |"
            ),
        ),
        ("Days", "table", "| Holiday |\n| 2026-08-01 |"),
    ]


def test_the_header_is_repeated_in_every_chunk_of_a_sheet(tmp_path: Path) -> None:
    """A long table is broken at rows, each piece below the header."""
    made = openpyxl.Workbook()
    assert made.active is not None
    made.active.append(["Number", "Name"])
    for number in range(300):
        made.active.append([number, f"part number {number}"])
    made.save(path := tmp_path / "a.xlsx")
    chunks = split_one(load_one(path)).chunks
    assert len(chunks) > 5
    assert all("| Number | Name |" in chunk.text for chunk in chunks)


def rewritten(path: Path, member: str, old: str, new: str) -> Path:
    """The file with a text in one of its parts replaced."""
    changed = path.with_stem(f"{path.stem}_")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(changed, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == member:
                assert old.encode() in content
                content = content.replace(old.encode(), new.encode())
            target.writestr(name, content)
    return changed


@pytest.mark.parametrize("suffix", OFFICE)
def test_broken_office_files_are_named(suffix: str, tmp_path: Path) -> None:
    """A file cut off, an archive of something else, an empty one and plain text each give one clear reason."""
    MAKERS[suffix](path := tmp_path / f"a{suffix}")
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert skipped(path).reason.startswith("a damaged ")
    with zipfile.ZipFile(path, "w") as other:
        other.writestr("readme.txt", "hello")
    assert skipped(path).reason.startswith("a damaged ")
    path.write_bytes(b"hello")
    assert skipped(path).reason.startswith("a damaged ")
    path.write_bytes(b"")
    assert skipped(path).reason == "empty"


def test_what_a_library_raises_is_damage_and_what_we_raise_a_defect(tmp_path: Path) -> None:
    """Where python-pptx raises, the file is broken; the same kind of error from a module of ours is raised."""
    slides(made := tmp_path / "a.pptx")
    broken = rewritten(made, "ppt/slides/_rels/slide1.xml.rels", "package/2006/relationships", "zz")
    assert skipped(broken).reason == "a damaged PowerPoint presentation (AttributeError)"
    with pytest.raises(AttributeError), reading("PowerPoint presentation"):
        decode(None)  # type: ignore[arg-type]  # a defect: a module of ours called with what it does not take


@pytest.mark.parametrize("suffix", OFFICE)
def test_encrypted_and_old_office_files_are_named(suffix: str, tmp_path: Path) -> None:
    """Both are compound files: one holds an encrypted package, the other the format before 2007."""
    path = tmp_path / f"a{suffix}"
    compound = bytes.fromhex("d0cf11e0a1b11ae1") + b"\0" * 504
    path.write_bytes(compound + "EncryptedPackage".encode("utf-16-le") + b"\0" * 500)
    assert skipped(path).reason == "encrypted: it opens only with a password"
    path.write_bytes(compound + "WordDocument".encode("utf-16-le") + b"\0" * 500)
    assert "older Office" in skipped(path).reason


@pytest.mark.parametrize("suffix", [*OFFICE, ".epub"])
def test_a_zip_bomb_is_not_unpacked(suffix: str, tmp_path: Path) -> None:
    """An archive of 300 KB that unpacks to more than the limit is refused by what it declares."""
    path = tmp_path / f"a{suffix}"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bomb, bomb.open("word/document.xml", "w") as part:
        for _ in range(MAX_UNPACKED_BYTES // 2**20 + 1):
            part.write(b" " * 2**20)
    assert path.stat().st_size < 2**20
    assert skipped(path).reason == "unpacks to more than 256 MiB"


def test_a_bomb_that_lies_about_its_size_is_damaged(tmp_path: Path) -> None:
    """A part is unpacked no further than the size it declares."""
    word(path := tmp_path / "a.docx")
    content = bytearray(path.read_bytes())
    entry = content.rindex(b"word/document.xml") - 46  # its entry in the directory; the size is 24 bytes in
    assert content[entry : entry + 4] == b"PK\x01\x02"
    content[entry + 24 : entry + 28] = (100).to_bytes(4, "little")
    path.write_bytes(content)
    assert skipped(path).reason.startswith("a damaged Word document")


@pytest.mark.parametrize(("suffix", "part"), [(".docx", "word/document.xml"), (".pptx", "ppt/slides/slide1.xml")])
def test_entities_are_not_resolved(suffix: str, part: str, tmp_path: Path) -> None:
    """An entity that names a file brings nothing of that file in."""
    MAKERS[suffix](made := tmp_path / f"a{suffix}")
    (secret := tmp_path / "secret.txt").write_text("The secret word.")
    doctype = f'<!DOCTYPE x [<!ENTITY secret SYSTEM "{secret.as_uri()}">]>'
    path = rewritten(made, part, "standalone='yes'?>", f"standalone='yes'?>{doctype}")
    path = rewritten(path, part, "In force since May." if suffix == ".docx" else "For the board.", "A &secret; Z")
    assert "secret word" not in str(load(path))


def test_entities_that_multiply_are_refused(tmp_path: Path) -> None:
    """Entities of entities end in a damaged file, not in gigabytes."""
    word(made := tmp_path / "a.docx")
    entities = '<!ENTITY a0 "ha ha ha ha ">' + "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    path = rewritten(made, "word/document.xml", "standalone='yes'?>", f"standalone='yes'?><!DOCTYPE x [{entities}]>")
    path = rewritten(path, "word/document.xml", "In force since May.", "&a11;")
    assert skipped(path).reason.startswith("a damaged Word document (")


def test_a_sheet_that_claims_a_million_columns_is_read_by_what_it_holds(tmp_path: Path) -> None:
    """The dimension a sheet declares costs nothing; a cell in the last row is found."""
    made = openpyxl.Workbook()
    assert made.active is not None
    made.active["A1"], made.active["B1"], made.active["B1048576"] = "Key", "Value", "last"
    made.save(path := tmp_path / "a.xlsx")
    path = rewritten(path, "xl/worksheets/sheet1.xml", 'ref="A1:B1048576"', 'ref="A1:XFD1048576"')
    assert texts(load_one(path)) == ["| Key | Value |\n|  | last |"]
