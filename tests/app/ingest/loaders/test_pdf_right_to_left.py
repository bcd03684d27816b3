"""PDF in scripts that are written from right to left."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.app.ingest.conftest import load_one, raw_pdf, stream, texts

CODES = "abcdefghijklmnopqrstuvwxyz"


def write_line(path: Path, letters: str, drawn: str) -> Path:
    """Write a PDF of one line whose font shows *letters* for a, b, c and so on."""
    codes = [f"<{ord(code):02x}> <{ord(letter):04x}>" for code, letter in zip(CODES, letters, strict=False)]
    shown = "\n".join([f"{len(codes)} beginbfchar", *codes, "endbfchar"])
    written = "".join(CODES[letters.index(sign)] if sign in letters else sign for sign in drawn)
    written = "".join(f"\\{sign}" if sign in "()" else sign for sign in written)
    objects = [
        "<</Type/Catalog/Pages 2 0 R>>",
        "<</Type/Pages/Kids[3 0 R]/Count 1>>",
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>",
        stream(f"BT /F 11 Tf 200 700 Td ({written}) Tj ET"),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>",
        stream(f"begincmap 1 begincodespacerange <00> <ff> endcodespacerange\n{shown}\nendcmap"),
    ]
    path.write_bytes(raw_pdf(objects))
    return path


@pytest.mark.parametrize(
    ("drawn", "read"),
    [
        (".(ץיקב) תועש 24 חותפ ןגה", "הגן פתוח 24 שעות (בקיץ)."),
        ("NATO 2016 תדיעו דבלב 30 תורומש", "שמורות 30 בלבד ועידת NATO 2016"),
    ],
)
def test_hebrew_is_read_from_right_to_left(tmp_path: Path, drawn: str, read: str) -> None:
    """Letters, words and brackets are in their order, and so are the numbers and the Latin words between them."""
    assert texts(load_one(write_line(tmp_path / "a.pdf", "אבגדהוזחטיכלמנסעפצקרשתץןםף", drawn))) == [read]
