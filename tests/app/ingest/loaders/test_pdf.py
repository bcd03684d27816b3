"""PDF: pages, headings by size of type, paragraphs put together again."""

from __future__ import annotations

import zlib
from pathlib import Path

from tests.app.ingest.conftest import load_one, pdf, places, skipped, split_one, texts

LONG = (
    "Every visitor signs the book at the gate and wears a yellow vest for as long as the visit lasts. A host may "
    "accompany four visitors at once and answers for them until they have left the grounds again."
)


def test_pages_and_sections_of_pdf(tmp_path: Path) -> None:
    """Pages count from 1, larger type makes headings, the file's own title is the title; wrapped lines are joined."""
    pages = [[(20, "Rules"), (14, "1 Gate"), (11, LONG)], [(14, "2 Arena"), (11, "Carts stop."), (11, LONG)]]
    (path := tmp_path / "rules.pdf").write_bytes(pdf(*pages, title="Rules"))
    document = load_one(path)
    assert document.title == "Rules"
    assert places(document) == [
        (None, "1 Gate", 1, LONG[:20]),
        (None, "2 Arena", 2, "Carts stop."),
        (None, "2 Arena", 2, LONG[:20]),
    ]
    assert texts(document)[0] == LONG


def test_running_lines_are_dropped(tmp_path: Path) -> None:
    """What repeats at the edges of most pages is no text, whatever its page number."""
    words = ["Apples ripen late.", "Pears need a wall.", "Plums want company.", "Figs hate frost."]
    pages = [
        [(8, "House rules, edition 3"), (11, f"{text} {LONG} {text}"), (8, f"Page {n}")] for n, text in enumerate(words)
    ]
    (path := tmp_path / "a.pdf").write_bytes(pdf(*pages))
    assert texts(load_one(path)) == [f"{text} {LONG} {text}" for text in words]


def test_a_sentence_over_the_page_stays_whole(tmp_path: Path) -> None:
    """A sentence that runs over the end of a page stands on the page where it begins."""
    (path := tmp_path / "a.pdf").write_bytes(
        pdf([(11, "First. The pressure must")], [(11, "stay below 5 bar. Next one.")])
    )
    assert places(load_one(path)) == [(None, None, 1, "First. The pressure "), (None, None, 2, "Next one.")]
    assert texts(load_one(path))[0] == "First. The pressure must stay below 5 bar."


def test_chunks_of_pdf_know_their_page(tmp_path: Path) -> None:
    """No chunk spans two pages."""
    (path := tmp_path / "a.pdf").write_bytes(pdf(*([(11, LONG)] * 3 for _ in range(3))))
    chunks = split_one(load_one(path)).chunks
    assert [chunk.page for chunk in chunks] == sorted(chunk.page or 0 for chunk in chunks)
    assert {chunk.page for chunk in chunks} == {1, 2, 3}


def test_a_pdf_that_opens_for_anybody_is_read(tmp_path: Path) -> None:
    """One that is encrypted against printing or changes alone needs no password to be read, and is."""
    (path := tmp_path / "a.pdf").write_bytes(pdf([(11, LONG)], password=""))
    assert texts(load_one(path)) == [LONG]


def test_pdfs_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    """Encrypted, cut off, text-free and made-up PDFs each say what is wrong."""
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf([(11, LONG)], password="secret"))
    assert "password" in skipped(path).reason
    path.write_bytes(pdf([]))
    assert "without text" in skipped(path).reason
    path.write_bytes(b"%PDF-1.7 and then nothing of the kind")
    assert "damaged" in skipped(path).reason
    path.write_bytes(pdf([(11, LONG)])[:400])
    assert skipped(path).reason


def packed_spaces(mebibytes: int) -> bytes:
    """So many MiB of spaces as zlib packs them: one packed MiB again and again, and the checksum of all."""
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    one = packer.compress(b" " * 2**20) + packer.flush(zlib.Z_FULL_FLUSH)
    count, modulus = mebibytes * 2**20, 65521
    adler = (count + 32 * count * (count + 1) // 2) % modulus << 16 | (1 + 32 * count) % modulus
    return b"\x78\xda" + one * mebibytes + packer.flush() + adler.to_bytes(4, "big")


def test_a_bomb_in_a_pdf_is_refused(tmp_path: Path) -> None:
    """A page that unpacks to 2 GB is not unpacked."""
    assert zlib.decompress(packed_spaces(2)) == b" " * 2**21
    bomb = packed_spaces(2048)
    assert len(bomb) < 3 * 2**20
    head = b"<</Length %d/Filter/FlateDecode>>" % len(bomb)
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R>>",
        head + b"stream\n" + bomb + b"\nendstream",
    ]
    body, offsets = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        offsets.append(len(body))
        body += b"%d 0 obj" % number + content + b"endobj\n"
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    body += b"xref\n0 5\n0000000000 65535 f \n" + table + b"trailer<</Size 5/Root 1 0 R>>\nstartxref\n%d\n%%%%EOF"
    (path := tmp_path / "a.pdf").write_bytes(body.replace(b"%d\n%%%%EOF", b"%d\n%%%%EOF" % (len(body) - 100)))
    assert skipped(path).reason
