"""Load OpenDocument texts (``.odt``): their XML becomes HTML, which the HTML loader reads."""

from html import escape
from typing import Any

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.archive import ENCRYPTED, parse_xml, unpacked
from app.ingest.loaders.html import add_fragment
from app.ingest.loaders.outline import Outline
from app.ingest.loaders.text_encoding import Unreadable

_SKIPPED = frozenset(
    "tracked-changes annotation annotation-end forms sequence-decls table-of-content alphabetical-index "
    "illustration-index table-index covered-table-cell note-citation script event-listeners".split()
)
_TAGS = {"p": "p", "list": "ul", "list-item": "li", "list-header": "li", "table": "table", "table-row": "tr"}
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:"


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a text: headings, lists, tables, text boxes, notes; no pictures, comments, indexes or deleted text.

    Title: the paragraph of style Title, the property, or the file name. Raises ``Unreadable`` when it is encrypted,
    damaged or too large.
    """
    outline = Outline()
    with unpacked(data, "OpenDocument text") as archive:
        names = archive.namelist()
        if "META-INF/manifest.xml" in names and b"encryption-data" in archive.read("META-INF/manifest.xml"):
            raise Unreadable(ENCRYPTED)
        title = parse_xml(archive.read("meta.xml")).findtext(".//{*}title") if "meta.xml" in names else ""
        content = parse_xml(archive.read("content.xml"))
        text = content.find("{*}body/{*}text")
        if text is None:
            raise Unreadable("no OpenDocument text: a spreadsheet or a presentation")
        styles = {
            style.get(_name(style, "name")): style.get(_name(style, "parent-style-name"))
            for style in content.iter("{*}style")
        }
        converter = _Converter({name for name, parent in styles.items() if parent == "Title"} | {"Title"})
        html = converter.html(text)
    notes = "".join(f"<p>{note}</p>" for note in converter.notes)
    add_fragment(outline, html + notes)
    hidden = ("a hidden section is not read",) if converter.hidden else ()
    return outline.document(source, " ".join((title or "").split()) or None).model_copy(update={"notes": hidden})


class _Converter:
    """Writes HTML, and collects the texts of notes, which follow the text."""

    def __init__(self, title_styles: set[str | None]) -> None:
        self.notes: list[str] = []
        self.hidden = False
        self._title_styles = title_styles

    def html(self, element: Any) -> str:
        """Return an element with all below it; the title is the only ``h1``."""
        return escape(element.text or "") + "".join(self._child(child) + escape(child.tail or "") for child in element)

    def _child(self, element: Any) -> str:
        if not isinstance(element.tag, str):  # a comment of the file
            return ""
        name = element.tag.rpartition("}")[2]
        match name:
            case "s" | "tab":
                return " "
            case "line-break":
                return "<br>"
            case "note":
                self.notes.append(self.html(element).strip())
                return ""
            case "section" if element.get(_name(element, "display")) == "none":
                self.hidden = True
                return ""
            case "h":
                level = element.get(_name(element, "outline-level"), "1")
                return f"<h{min(int(level) + 1, 6)}>{self.html(element)}</h{min(int(level) + 1, 6)}>"
            case "p" if element.get(_name(element, "style-name")) in self._title_styles:
                return f"<h1>{self.html(element)}</h1>"
            case "table-cell":
                return self._cell(element)
            case _ if name in _SKIPPED:
                return ""
        tag = _TAGS.get(name)
        return f"<{tag}>{self.html(element)}</{tag}>" if tag else self.html(element)

    def _cell(self, element: Any) -> str:
        """Return a cell as often as it is repeated; a sheet's empty rest of a row is one cell."""
        spans = "".join(
            f' {attribute}="{element.get(_name(element, f"number-{kind}-spanned"), "1")}"'
            for attribute, kind in (("colspan", "columns"), ("rowspan", "rows"))
        )
        inside = self.html(element)
        repeated = int(element.get(_name(element, "number-columns-repeated"), "1")) if inside else 1
        return f"<td{spans}>{inside}</td>" * min(repeated, 50)


def _name(element: Any, name: str) -> str:
    """Return the full name of an attribute, in whatever OpenDocument namespace it has."""
    return next((key for key in element.keys() if key.rpartition("}")[2] == name and key.startswith(_OFFICE)), name)  # noqa: SIM118 - lxml
