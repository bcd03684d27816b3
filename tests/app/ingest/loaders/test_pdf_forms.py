"""PDF forms: what is filled in is read beside its label."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from app.ingest.pdf_picture import draw_page
from tests.app.ingest.conftest import load_one, raw_pdf, stream, texts

Placed = tuple[float, float, str]
"""Points from the left and from the bottom of the page, and the text of one line."""


def write_form(path: Path, labels: Sequence[Placed], annotations: Sequence[str], catalog: str = "") -> Path:
    """Write a PDF of one page with labels, and annotations as PDF writes them, from object 7 on."""
    drawn = "".join(f"BT /F 11 Tf {left} {up} Td ({text}) Tj ET " for left, up, text in labels)
    numbers = " ".join(f"{number} 0 R" for number in range(7, 7 + len(annotations)))
    objects = [
        f"<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[{numbers}]/XFA(<xdp/>)>>{catalog}>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources 6 0 R/Annots[{numbers}]>>",
        stream(drawn),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>",
        "<</Font<</F 5 0 R>>>>",
        *annotations,
    ]
    path.write_bytes(raw_pdf(objects))
    return path


def field(kind: str, value: str, place: str, more: str = "") -> str:
    """A form field with its box."""
    return f"<</Subtype/Widget/FT/{kind}/T(f{place})/V{value}/Rect[{place}]/F 4{more}>>"


def test_what_is_filled_in_stands_beside_its_label(tmp_path: Path) -> None:
    """Texts, choices and boxes are items with their labels; secret and hidden fields are left out."""
    names = ["Name of tenant:", "Storey:", "Parking place", "Balcony", "Password:", "Notes:"]
    labels = [(50.0, 700.0 - 25 * at, name) for at, name in enumerate(names)]
    fields = [
        field("Tx", "(Oda Brandt)", "250 696 400 712"),
        field("Ch", "(Third)", "250 671 400 687", "/Ff 131072/Opt[(Second)(Third)]"),
        field("Btn", "/Yes", "250 646 262 658", "/AS/Yes"),
        field("Btn", "/Off", "250 621 262 633", "/AS/Off"),
        field("Tx", "(oak7)", "250 596 400 612", "/Ff 8192"),
        field("Tx", "(The cellar is damp and the lamp at the door does not burn.)", "250 525 400 587", "/Ff 4096"),
        field("Tx", "(made by Scribe 4)", "250 480 400 496").replace("/F 4", "/F 2"),
    ]
    path = write_form(tmp_path / "a.pdf", labels, fields)
    (read,) = texts(load_one(path))
    assert read.split("\n") == [
        "- Name of tenant: Oda Brandt",
        "- Storey: Third",
        "- Parking place: [x]",
        "- Balcony: [ ]",
        "- Password:",
        "- Notes: The cellar is damp and the lamp at the door does not burn.",
    ]
    assert draw_page(path, 1, "Name of tenant: Oda Brandt").marks == 2


def test_a_box_before_its_label_and_a_text_box_are_read(tmp_path: Path) -> None:
    """A box opens an item of a list; a text box that somebody set on the page is text there."""
    labels = [(70.0, 700.0 - 20 * at, name) for at, name in enumerate(["by post", "by mail", "in person"])]
    boxes = [
        field("Btn", f"/{state}", f"50 {699 - 20 * at} 60 {709 - 20 * at}", f"/AS/{state}")
        for at, state in enumerate(["Off", "Yes", "Off"])
    ]
    note = "<</Subtype/FreeText/Contents(Granted by Ute Falk.)/Rect[50 560 300 580]/F 4>>"
    read = texts(load_one(write_form(tmp_path / "a.pdf", labels, [*boxes, note])))
    assert read == ["[ ] by post", "[x] by mail", "[ ] in person", "Granted by Ute Falk."]


@pytest.mark.parametrize("catalog", ["/NeedsRendering true", ""])
def test_a_form_that_a_program_would_have_to_draw_is_named(tmp_path: Path, catalog: str) -> None:
    """Where the fields of an XFA form are in XML alone, what is printed is read, and a note says that they are not."""
    document = load_one(write_form(tmp_path / "a.pdf", [(50, 700, "Please wait for the form.")], [], catalog))
    assert texts(document) == ["Please wait for the form."]
    assert ["XFA" in note for note in document.notes] == [True] * bool(catalog)
