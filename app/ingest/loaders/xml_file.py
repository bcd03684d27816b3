"""Load XML: the records of an export are a table, other values a list below the names that lead to them."""

from typing import Any

from lxml import etree

from app.ingest.documents import LoadedDocument
from app.ingest.loaders import html, source_code
from app.ingest.loaders.archive import local, parse_xml
from app.ingest.loaders.json_file import ValueWriter, title_of
from app.ingest.loaders.outline import Outline, title_from_name
from app.ingest.loaders.text_encoding import Unreadable

TEXT = "value"
"""Name of the text of an element that has attributes, too."""


def load(data: bytes, source: str) -> LoadedDocument:
    """Read an XML file; XHTML is read as HTML. Title: the root's ``title`` or ``name``, or the file name.

    What is not well-formed is read as code; a note says why. Raises ``Unreadable`` for pictures.
    """
    try:
        root = parse_xml(data)
    except etree.XMLSyntaxError as error:
        document = source_code.load(data, source)
        return document.model_copy(update={"notes": (f"read as code, not as XML: {error.msg}", *document.notes)})
    name = local(root)
    if name == "html":
        return html.load(data, source)
    if name == "svg":
        raise Unreadable("a picture")
    value = _value(root)
    outline = Outline()
    ValueWriter(outline).add(value, ())
    return outline.document(source, title_of(value) or title_from_name(source))


def _value(element: Any) -> Any:
    """Return an element as JSON would have it: its attributes and children by name, or its text alone.

    Children of one name are a list; an element with text between its children is text.
    """
    children = [child for child in element if local(child)]
    text = " ".join("".join(map(str, element.itertext(etree.Element))).split()) if _has_text(element) else ""
    found: dict[str, list[Any]] = {}
    for name, value in element.attrib.items():
        found.setdefault(etree.QName(name).localname, []).append(value)
    if not text:
        for child in children:
            found.setdefault(local(child), []).append(_value(child))
    if not found:
        return text
    if text:
        found.setdefault(TEXT, []).append(text)
    members = {name: values if len(values) > 1 else values[0] for name, values in found.items()}
    if not element.attrib and len(found) == 1 and len(children) > 1:
        return next(iter(found.values()))  # a list of records or texts of one name
    return members


def _has_text(element: Any) -> bool:
    return bool("".join([element.text or "", *(child.tail or "" for child in element)]).strip())
