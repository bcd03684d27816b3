"""PDF pages that are pictures: recognised by Tesseract where it is installed, named where it is not."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pypdfium2
import pytest
from fpdf import FPDF

from app.ingest.documents import SplitDocument
from app.ingest.find import FoundFile
from app.ingest.forked import FORK_SERVER
from app.ingest.reading import FileReaderProcess
from tests.app.ingest.conftest import load_one, pdf, skipped, split_one, texts

CODE = "The code of locker 13 is 2956."
PEER = """\
#!{python}
import sys, time
if "--list-langs" in sys.argv:
    print("List of available languages (2):\\neng\\nosd")
else:
    assert sys.argv[1:5] == ["stdin", "stdout", "-l", "eng"] and sys.stdin.buffer.read(2) == b"P5"
    time.sleep({seconds})
    print("level page_num block_num par_num line_num word_num left top width height conf text".replace(" ", "\\t"))
    print("4 1 1 1 1 0 200 300 900 50 -1 ".replace(" ", "\\t"))
    for at, word in enumerate({code!r}.split()):
        print("\\t".join(map(str, [5, 1, 1, 1, 1, at + 1, 200 + 130 * at, 300, 120, 50, 96.5, word])))
    print("5 1 1 1 1 9 10 10 5 5 12 ~~".replace(" ", "\\t"))
"""


def scan(*pages: bytes) -> bytes:
    """A PDF of pictures of the first pages of PDFs; an empty one has text of its own."""
    document = FPDF(unit="pt")
    for page in pages:
        document.add_page()
        if page:
            picture = pypdfium2.PdfDocument(page)[0].render(scale=200 / 72).to_pil()
            document.image(picture, 0, 0, document.w, document.h)
        else:
            document.set_font("Helvetica", size=11)
            document.text(60, 60, "Keys hang at the reception.")
    return bytes(document.output())


def install(folder: Path, monkeypatch: pytest.MonkeyPatch, seconds: float = 0.0) -> None:
    """Put a program on the path that answers as Tesseract does, whatever the picture shows."""
    (program := folder / "tesseract").write_text(PEER.format(python=sys.executable, code=CODE, seconds=seconds))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))


def test_a_scanned_page_is_recognised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its text is read and marked as recognised, that of the page beside it is not; the notes name the page."""
    install(tmp_path, monkeypatch)
    (path := tmp_path / "a.pdf").write_bytes(scan(b"", pdf([(11, CODE)])))
    document = load_one(path)
    assert texts(document) == ["Keys hang at the reception.", CODE]
    assert [(chunk.page, chunk.recognised) for chunk in split_one(document).chunks] == [(1, False), (2, True)]
    assert document.notes == ("text recognised on scanned pages: 2",)


def test_without_the_program_scans_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scan is skipped with its reason; of a document with text the pages that are pictures are named."""
    monkeypatch.setenv("PATH", str(tmp_path))
    (path := tmp_path / "a.pdf").write_bytes(scan(pdf([(11, CODE)])))
    assert skipped(path).reason == (
        "a PDF without text: its pages are pictures; Tesseract, which would recognise it, is not installed"
    )
    path.write_bytes(scan(b"", pdf([(11, CODE)]), pdf([(11, CODE)])))
    (note,) = load_one(path).notes
    assert note.startswith("pages that are pictures without text are not read: 2, 3 (Tesseract")
    path.write_bytes(pdf([]))
    assert skipped(path).reason == "a PDF without text: empty"


@pytest.mark.long
async def test_every_page_has_its_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The time limit of a file is that of each of its scanned pages."""
    install(tmp_path, monkeypatch, seconds=1)
    (path := tmp_path / "a.pdf").write_bytes(scan(*[pdf([(11, CODE)])] * 5))
    FORK_SERVER.close()  # the next one has the changed path
    async with FileReaderProcess(seconds_per_file=4) as reader:
        (document,) = [document async for document in reader.read(FoundFile(path, "a.pdf"))]
    assert isinstance(document, SplitDocument)
    assert "text recognised on scanned pages: 1, 2, 3, 4, 5" in document.notes


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="Tesseract is not installed")
def test_tesseract_itself(tmp_path: Path) -> None:
    """The installed program reads a line of print."""
    (path := tmp_path / "a.pdf").write_bytes(scan(pdf([(14, CODE)])))
    assert texts(load_one(path)) == [CODE]
