"""Load EPUB books: the pages of the spine in reading order, each read as HTML."""

from posixpath import dirname, join, normpath
from urllib.parse import unquote

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.archive import parse_xml, unpacked
from app.ingest.loaders.html import add_fragment
from app.ingest.loaders.outline import Outline
from app.ingest.loaders.text_encoding import Unreadable, decode

PAGES = ("application/xhtml+xml", "text/html")


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a book by its headings; its table of contents is left out.

    Raises ``Unreadable`` when it is encrypted, damaged or too large.
    """
    outline = Outline()
    with unpacked(data, "EPUB book") as archive:
        root = str(parse_xml(archive.read("META-INF/container.xml")).xpath("string(//@full-path)"))
        package = parse_xml(archive.read(root))
        title = " ".join((package.findtext(".//{*}title") or "").split())
        items = {item.get("id"): item for item in package.iterfind("{*}manifest/{*}item")}
        spine = [reference.get("idref") for reference in package.iterfind("{*}spine/{*}itemref")]
        if not items.keys() >= set(spine):
            raise Unreadable("a damaged EPUB book (its spine names what its manifest lacks)")
        for item in map(items.__getitem__, spine):
            if item.get("media-type") in PAGES and "nav" not in (item.get("properties") or "").split():
                name = normpath(join(dirname(root), unquote(item.get("href") or "")))
                add_fragment(outline, decode(archive.read(name)))
    return outline.document(source, title or None)
