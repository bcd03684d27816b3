"""EPUB is read along its spine."""

from __future__ import annotations

import zipfile
from pathlib import Path

from tests.app.ingest.conftest import load_one, places, skipped, texts

CONTAINER = (
    '<?xml version="1.0"?><container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
    '<rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
)
PACKAGE = """<?xml version="1.0"?>
<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="id">
<metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:identifier id="id">x</dc:identifier>
<dc:title>Keeping  bees</dc:title><dc:language>en</dc:language></metadata>
<manifest>
<item id="two" href="text/chapter%202.xhtml" media-type="application/xhtml+xml"/>
<item id="one" href="text/1.xhtml" media-type="application/xhtml+xml"/>
<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>
<item id="cover" href="cover.svg" media-type="image/svg+xml"/></manifest>
<spine><itemref idref="cover"/><itemref idref="nav"/><itemref idref="one"/><itemref idref="two"/></spine></package>
"""
PAGE = (
    '<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><head>'
    '<title>page</title><script src="a.js"/></head><body>{}</body></html>'
)
PARTS = {
    "META-INF/container.xml": CONTAINER,
    "OEBPS/book.opf": PACKAGE,
    "OEBPS/nav.xhtml": PAGE.format("<ol><li>Hives</li></ol>"),
    "OEBPS/text/1.xhtml": PAGE.format(
        '<h1>Hives</h1><a id="p1"/><p>A hive is a home.</p><h2>Frames</h2>'
        '<p>Ten to a box – <img src="https://x.invalid/a.png"/> no more.</p>'
    ),
    "OEBPS/text/chapter 2.xhtml": PAGE.format(
        "<h1>Honey</h1><h2>Yield</h2><table><tr><th>Year</th><th>kg</th></tr><tr><td>2025</td><td>21</td></tr></table>"
    ),
}


def epub(path: Path, parts: dict[str, str]) -> Path:
    """A book of those parts."""
    with zipfile.ZipFile(path, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        for name, text in parts.items():
            book.writestr(name, text)
    return path


def test_book(tmp_path: Path) -> None:
    """The spine gives the order, whatever the order of the files; headings make chapters and sections."""
    document = load_one(epub(tmp_path / "a.epub", PARTS))
    assert document.title == "Keeping bees"
    assert places(document) == [
        ("Hives", "Hives", None, "A hive is a home."),
        ("Hives", "Frames", None, "Ten to a box – no mo"),
        ("Honey", "Yield", None, "| Year | kg |\n| 2025"),
    ]
    assert texts(document)[2] == "| Year | kg |\n| 2025 | 21 |"


def test_broken_books_are_named(tmp_path: Path) -> None:
    """A book cut off, without its list of files, without a chapter it lists, or with broken XML is damaged."""
    path = epub(tmp_path / "a.epub", PARTS)
    path.write_bytes(path.read_bytes()[:-100])
    assert skipped(path).reason == "a damaged EPUB book (BadZipFile)"
    for missing in ("META-INF/container.xml", "OEBPS/book.opf", "OEBPS/text/1.xhtml"):
        parts = {name: text for name, text in PARTS.items() if name != missing}
        assert skipped(epub(path, parts)).reason == "a damaged EPUB book (KeyError)"
    unlisted = PARTS | {"OEBPS/book.opf": PACKAGE.replace('idref="one"', 'idref="three"')}
    assert skipped(epub(path, unlisted)).reason == "a damaged EPUB book (its spine names what its manifest lacks)"
    assert "XMLSyntaxError" in skipped(epub(path, PARTS | {"OEBPS/book.opf": PACKAGE[:300]})).reason


def test_encrypted_books_are_named(tmp_path: Path) -> None:
    """A chapter that is encrypted is binary data, and closes the book."""
    sealed = bytes(range(256)).decode("latin-1") * 9
    path = epub(tmp_path / "a.epub", PARTS | {"OEBPS/text/chapter 2.xhtml": sealed})
    assert skipped(path).reason == "binary data, not text"


def test_entities_of_a_book_are_not_resolved(tmp_path: Path) -> None:
    """Neither the package nor a page brings in another file."""
    (secret := tmp_path / "secret.txt").write_text("The secret word.")
    doctype = f'<!DOCTYPE x [<!ENTITY s SYSTEM "{secret.as_uri()}">]>'
    package = PACKAGE.replace("<package", f"{doctype}<package", 1).replace("Keeping  bees", "Bees &s;")
    page = PARTS["OEBPS/text/1.xhtml"].replace("<!DOCTYPE html>", doctype).replace("A hive", "&s; A hive")
    parts = PARTS | {"OEBPS/book.opf": package, "OEBPS/text/1.xhtml": page}
    assert "secret word" not in load_one(epub(tmp_path / "a.epub", parts)).model_dump_json()
