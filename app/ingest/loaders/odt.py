"""Load OpenDocument texts (``.odt``): their XML becomes HTML, which the HTML loader reads."""

from html import escape
from typing import Any

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.archive import ENCRYPTED, parse_xml, unpacked
from app.ingest.loaders.html import add_fragment
from app.ingest.loaders.html_content import hidden_note
from app.ingest.loaders.outline import Outline, counted
from app.ingest.loaders.running_lines import is_page_number
from app.ingest.loaders.text_encoding import Unreadable

_SKIPPED = frozenset(
    "tracked-changes annotation annotation-end forms sequence-decls table-of-content alphabetical-index "
    "illustration-index table-index covered-table-cell note-citation script event-listeners".split()
)
_TAGS = {"p": "p", "list": "ul", "list-item": "li", "list-header": "li", "table": "table", "table-row": "tr"}
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:"


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a text: headings, lists, tables, boxes, notes, page headers and footers; no pictures, indexes, deleted text.

    What is hidden is noted, comments are counted. Title: the paragraph of style Title, the property, or the file name.
    Raises ``Unreadable`` when it is encrypted, damaged or too large.
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
        styles_part = parse_xml(archive.read("styles.xml")) if "styles.xml" in names else None
        above, below = (_page_frame(converter, styles_part, kind) for kind in ("header", "footer"))
        html = above + converter.html(text)
    notes = "".join(f"<p>{note}</p>" for note in converter.notes)
    add_fragment(outline, html + notes + below)
    left_out = ["a hidden section is not read"] if converter.hidden else []
    left_out += hidden_note(converter.hidden_texts)
    left_out += [f"not read: {comments}" for comments in counted(len(list(text.iter("{*}annotation"))), "comment")]
    return outline.document(source, " ".join((title or "").split()) or None).model_copy(
        update={"notes": tuple(left_out)}
    )


def _page_frame(converter: "_Converter", styles: Any, kind: str) -> str:
    """Return the page headers or footers as HTML, each text once, without paragraphs that are a page number."""
    seen: dict[str, str] = {}
    names = (kind, f"{kind}-first", f"{kind}-left")
    pages = [] if styles is None else list(styles.iter("{*}master-page"))
    for frame in (found for page in pages for name in names for found in page.iterfind(f"{{*}}{name}")):
        if frame.get(_name(frame, "display")) == "false":
            continue
        for block in frame:
            text = " ".join("".join(block.itertext()).split())
            is_numbered = next(block.iter("{*}page-number"), None) is not None
            if text and text not in seen and not (is_numbered and is_page_number(text)):
                seen[text] = converter.html_of(block)
    return "".join(seen.values())


class _Converter:
    """Writes HTML, and collects the texts of notes, which follow the text."""

    def __init__(self, title_styles: set[str | None]) -> None:
        self.notes: list[str] = []
        self.hidden = False
        self.hidden_texts: list[str] = []
        self._title_styles = title_styles

    def html(self, element: Any) -> str:
        """Return all below an element; the title is the only ``h1``."""
        return escape(element.text or "") + "".join(self.html_of(child) + escape(child.tail or "") for child in element)

    def html_of(self, element: Any) -> str:
        """Return an element itself."""
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
            case "hidden-text" if element.get(_name(element, "is-hidden")) == "true":
                self.hidden_texts.append("".join(element.itertext()))
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
