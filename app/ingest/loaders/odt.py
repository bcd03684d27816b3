"""Load OpenDocument texts (``.odt``): their XML becomes HTML, which the HTML loader reads."""

from collections.abc import Sequence
from html import escape
from typing import Any

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.archive import ENCRYPTED, attribute, local, parse_xml, unpacked
from app.ingest.loaders.html import add_fragment
from app.ingest.loaders.html_content import hidden_note
from app.ingest.loaders.outline import Outline, unread_note
from app.ingest.loaders.running_lines import is_page_number
from app.ingest.loaders.text_encoding import Unreadable

_SKIPPED = frozenset(
    "tracked-changes annotation annotation-end forms sequence-decls table-of-content alphabetical-index "
    "illustration-index table-index covered-table-cell note-citation script event-listeners".split()
)
_TAGS = {"p": "p", "list": "ul", "list-item": "li", "list-header": "li", "table": "table", "table-row": "tr"}


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
        styles = content.iter("{*}style")
        titles = {attribute(style, "name") for style in styles if attribute(style, "parent-style-name") == "Title"}
        converter = _Converter(titles | {"Title"})
        pages = list(parse_xml(archive.read("styles.xml")).iter("{*}master-page")) if "styles.xml" in names else []
        above, below = (_page_frame(converter, pages, kind) for kind in ("header", "footer"))
        html = above + converter.html(text)
    notes = "".join(f"<p>{note}</p>" for note in converter.notes)
    add_fragment(outline, html + notes + below)
    outline.notes += ["a hidden section is not read"] if converter.hidden else []
    outline.notes += hidden_note(converter.hidden_texts)
    outline.notes += unread_note({"comment": len(list(text.iter("{*}annotation")))})
    return outline.document(source, " ".join((title or "").split()) or None)


def _page_frame(converter: "_Converter", pages: Sequence[Any], kind: str) -> str:
    """Return the page headers or footers as HTML, each text once, without paragraphs that are a page number."""
    seen: dict[str, str] = {}
    names = (kind, f"{kind}-first", f"{kind}-left")
    for frame in (found for page in pages for name in names for found in page.iterfind(f"{{*}}{name}")):
        for block in frame if attribute(frame, "display") != "false" else []:
            text = " ".join("".join(block.itertext()).split())
            is_numbered = next(block.iter("{*}page-number"), None) is not None
            if text and text not in seen and not (is_numbered and is_page_number(text)):
                seen[text] = converter.html_of(block)
    return "".join(seen.values())


class _Converter:
    """Writes HTML, and collects the texts of notes, which follow their paragraph, or, of headings, the text."""

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
        match name := local(element):
            case "":  # a comment of the file
                return ""
            case "s" | "tab":
                return " "
            case "line-break":
                return "<br>"
            case "note":
                self.notes.append(self.html(element).strip())
                return ""
            case "section" if attribute(element, "display") == "none":
                self.hidden = True
                return ""
            case "hidden-text" if attribute(element, "is-hidden") == "true":
                self.hidden_texts.append("".join(element.itertext()))
                return ""
            case "h":
                level = min(int(attribute(element, "outline-level") or 1) + 1, 6)
                return f"<h{level}>{self.html(element)}</h{level}>"
            case "p" if attribute(element, "style-name") in self._title_styles:
                return f"<h1>{self.html(element)}</h1>"
            case "table-cell":
                return self._cell(element)
            case _ if name in _SKIPPED:
                return ""
        tag, first = _TAGS.get(name), len(self.notes)
        inside = self.html(element)
        if tag != "p":
            return f"<{tag}>{inside}</{tag}>" if tag else inside
        notes = "".join(f"<p>{note}</p>" for note in self.notes[first:])
        del self.notes[first:]
        return f"<p>{inside}</p>{notes}"

    def _cell(self, element: Any) -> str:
        """Return a cell as often as it is repeated; a sheet's empty rest of a row is one cell."""
        columns, rows = (attribute(element, f"number-{kind}-spanned") or 1 for kind in ("columns", "rows"))
        inside = self.html(element)
        repeated = int(attribute(element, "number-columns-repeated") or 1) if inside else 1
        return f'<td colspan="{columns}" rowspan="{rows}">{inside}</td>' * min(repeated, 50)
