"""The picture of a PDF page: where a quote is marked on it."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pypdfium2
import pytest
from fpdf import FPDF
from PIL import Image

from app.ingest.loaders.pdf_words import page_words
from app.ingest.pdf_picture import DPI, PAPER, draw_page
from app.ingest.reading import PagePictures
from tests.app.ingest.loaders.test_pdf_layout import COLUMNS, LEFT, RIGHT, down

ROWS = [["Part", "Stock", "Shelf"], ["Hinge", "15", "5"], ["Lock", "5", "12"], ["Handle", "7", "15"]]
TABLE = [
    (60 + 120 * column, 60 + 20 * row, cell) for row, cells in enumerate(ROWS) for column, cell in enumerate(cells)
]


def marked_words(path: Path, quote: str, page: int = 1) -> tuple[int, list[str]]:
    """The page that is drawn, and its words whose middle has the marks' colour in the picture."""
    picture = draw_page(path, page, quote)
    drawn = Image.open(BytesIO(picture.png))
    words = page_words(pypdfium2.PdfDocument(path)[picture.page - 1])
    assert drawn.size[0] / DPI * 72 == pytest.approx(words.width, abs=1)
    found = []
    for word in sorted(words.words, key=lambda word: (-word.base, word.left)):
        left, right, base = (round(points * DPI / 72) for points in (word.left, word.right, words.height - word.base))
        above = drawn.crop((left, base - round(word.size * 0.7 * DPI / 72), right, base))
        if PAPER in {colour for _, colour in above.getcolors(above.width * above.height) or []}:
            found.append(word.text)
    return picture.page, found


def write(path: Path, *pages: list[tuple[float, float, str]]) -> Path:
    document = FPDF(unit="pt")
    document.set_font("Helvetica", size=11)
    for lines in pages:
        document.add_page()
        for left, top, text in lines:
            document.text(left, top, text)
    document.output(str(path))
    return path


def test_a_quote_is_marked_where_it_is_printed(tmp_path: Path) -> None:
    """In its own column, over the ends of lines and hyphens, and no word beside it."""
    path = write(tmp_path / "two.pdf", [*down(LEFT), *down(RIGHT, left=320)])
    quote = COLUMNS[1].split(". ")[-2] + "."
    assert quote.startswith("Every visitor signs")
    printed = "Every visi- tor signs the book at the gate and re- turns the badge in the evening."
    assert marked_words(path, quote) == (1, printed.split())


def test_the_cells_of_a_row_are_marked_and_no_others(tmp_path: Path) -> None:
    """A cell is found as a whole word, and of several equal ones the nearest to the row's longest cell."""
    path = write(tmp_path / "table.pdf", TABLE)
    assert marked_words(path, "| Lock | 5 | 12 |") == (1, ["Lock", "5", "12"])
    assert marked_words(path, "| Handle | 7 | 15 |") == (1, ["Handle", "7", "15"])


def test_a_quote_on_a_later_page_is_found_there(tmp_path: Path) -> None:
    """A passage goes on on the next pages; a quote that is nowhere leaves its page without a mark."""
    path = write(tmp_path / "pages.pdf", down(LEFT), down(RIGHT))
    assert marked_words(path, "Food is not allowed near the machines.")[0] == 2
    assert marked_words(path, "Bicycles stay outside.") == (1, [])
    assert draw_page(path, 2, "").marks == 0


def test_a_turned_and_a_cropped_page_are_marked_too(tmp_path: Path) -> None:
    """A page that is shown turned, one whose text is turned, and one whose box has its corner elsewhere."""
    path = write(tmp_path / "plain.pdf", down(LEFT))
    for turn in (90, 180, 270):
        with pypdfium2.PdfDocument(path) as document:
            document[0].set_rotation(turn)
            document.save(tmp_path / "turned.pdf")
        page, words = marked_words(tmp_path / "turned.pdf", "Wait until the pressure gauge shows zero.")
        assert (page, words) == (1, ["Wait", "until", "the", "pres-", "sure", "gauge", "shows", "zero."]), turn
    document = FPDF(unit="pt")
    document.set_font("Helvetica", size=11)
    document.add_page()
    with document.rotation(90, 300, 400):
        document.text(200, 400, "The lamp of the pier is red.")
    document.output(str(tmp_path / "sideways.pdf"))
    assert marked_words(tmp_path / "sideways.pdf", "the pier is red")[1] == ["the", "pier", "is", "red."]
    with pypdfium2.PdfDocument(path) as plain:
        plain[0].set_cropbox(40, 500, 400, 820)
        plain.save(tmp_path / "cropped.pdf")
    assert marked_words(tmp_path / "cropped.pdf", "sure gauge shows zero")[1] == ["sure", "gauge", "shows", "zero."]


async def test_a_file_that_cannot_be_drawn_has_no_picture(tmp_path: Path) -> None:
    """Neither one that is not a PDF nor one without the page; the process that tries ends with it."""
    pictures = PagePictures()
    (tmp_path / "none.pdf").write_bytes(b"%PDF-1.4 nothing")
    assert await pictures.draw(tmp_path / "none.pdf", 1, "x") is None
    path = write(tmp_path / "one.pdf", down(LEFT))
    assert await pictures.draw(path, 2, "x") is None
    drawn = await pictures.draw(path, 1, "A state-of-the-art sensor")
    assert drawn
    assert drawn == draw_page(path, 1, "A state-of-the-art sensor")
