"""Load Word documents: mammoth makes HTML of them, which the HTML loader reads.

Before that the file is made one that mammoth reads whole: page headers and footers in its body, its fields as text.
"""

import io
import re
from html import escape
from posixpath import dirname
from typing import Any
from zipfile import ZipFile

import mammoth
from bs4 import Tag
from lxml import etree

from app.ingest.documents import LoadedDocument
from app.ingest.loaders import html
from app.ingest.loaders.archive import (
    attribute,
    comments_on,
    local,
    parse_xml,
    property_title,
    targets,
    text_of,
    unpacked,
)
from app.ingest.loaders.docx_fields import run_of, write_out
from app.ingest.loaders.docx_numbers import Numbers
from app.ingest.loaders.html_content import WORD_NUMBER, hidden_note
from app.ingest.loaders.outline import unread_note
from app.ingest.loaders.running_lines import is_page_number

_HEADING_STYLES = ("p[style-name='heading {}']", "p.Heading{}")
_HEADINGS = [f"{style.format(n)} => h{min(n + 1, 6)}:fresh" for n in range(1, 10) for style in _HEADING_STYLES]
_STYLES = ["p[style-name='Title'] => h1:fresh", "p[style-name^='toc '] => !", *_HEADINGS]
"""The title is the only ``h1``, so that no first chapter is taken for it; the table of contents is left out.

mammoth compares names of styles whatever their case.
"""
_BACK_LINK = re.compile(r' ?<a href="#[^"]*">↑</a>')
_NUMBER, _END = "\ue000", "\ue001"
"""Signs of private use around a computed number."""
_NUMBERED = re.compile(f"(<li>)?{_NUMBER}([^{_END}]*){_END}")
_USUAL = re.compile(r"\(?(?:\d{1,3}|[a-z]|[ivx]{2,4})[.)]")
"""Numbers that stand for a bullet; others, such as ``2.1``, follow one."""
_MARKS = ("fldSimple", "oMath", "vanish", "txbxContent", "ddList", "ruby", "bdo", "dir", "headerRef", "footerRef")
_CHANGED = re.compile(rf"[:<](?:{'|'.join(_MARKS)})".encode())
"""What a part has that is to be changed; other parts stay as they are."""
_NOTE_ID = re.compile(r"(?:foot|end)note-\d+")
_NOTE_ITEM = re.compile(rf'<li id="{_NOTE_ID.pattern}"')
_IGNORED = re.compile(r"An unrecognised element was ignored: (?:\{.*\}|.*:)?(\w+)")


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a Word document: headings, lists, tables, footnotes, page headers and footers; no pictures or comments.

    Headings and items have the numbers that Word prints. Notes tell of hidden text, comments and elements that are not
    read. Title: the paragraph of style Title, the property, a single heading, or the file name. It stores no pages.
    Raises ``Unreadable`` when it is encrypted, damaged or too large.
    """
    with unpacked(data, "Word document") as archive:
        title = property_title(archive)
        main = next(iter(targets(archive, "", "/officeDocument").values()), "word/document.xml")
        content, hidden = _whole(archive, main)
        result = mammoth.convert_to_html(
            io.BytesIO(content),
            style_map="\n".join(_STYLES),
            include_embedded_style_map=False,
            convert_image=lambda _image: [],
            external_file_access=False,
        )
        unread = _unread(archive, main, [message.message for message in result.messages])
    body = _NUMBERED.sub(_placed, _notes_in_place(_BACK_LINK.sub("", result.value)))
    page = f'<meta charset="utf-8"><title>{escape(title)}</title>{body}'
    document = html.load(page.encode(), source)
    return document.model_copy(update={"notes": (*document.notes, *hidden_note(hidden), *unread)})


def _notes_in_place(body: str) -> str:
    """Return HTML of mammoth with each footnote and endnote below its paragraph, in its item or in its cell.

    mammoth writes all of them as a list at the end.
    """
    if not _NOTE_ITEM.search(body):
        return body
    tree = html.parsed(body)
    marks = {str(link["href"]): link for link in reversed(tree.find_all("a", href=True))}
    last: dict[int, Tag] = {}  # of each block the note below it that was placed last
    for note in tree.find_all("li", id=_NOTE_ID):
        mark = marks.get(f"#{note['id']}")
        block = mark.find_parent(["p", "li", "td", "th"]) if mark else None
        if not (mark and block):
            continue
        text = tree.new_tag("p")
        text.string = " ".join(note.get_text(" ").split())
        note.extract()
        (mark.find_parent("sup") or mark).extract()
        if id(block) in last:
            last[id(block)].insert_after(text)
        elif block.name == "p":
            block.insert_after(text)
        else:
            block.append(text)
        last[id(block)] = text
    return str(tree)


def _whole(archive: ZipFile, main: str) -> tuple[bytes, list[str]]:
    """Return the file with all its visible text in its body or its footnotes, and the texts it hides.

    Raises what lxml raises for a damaged part.
    """
    hidden: list[str] = []
    changed: dict[str, bytes] = {}
    for name in archive.namelist():
        if not name.endswith(".xml") or dirname(name) != dirname(main):
            continue
        content = archive.read(name)
        root = parse_xml(content) if name == main or _CHANGED.search(content) else None
        if root is not None and local(root) in ("document", "footnotes", "endnotes"):
            hidden += write_out(root)
            if name == main:
                _write_numbers(root, Numbers(archive, main))
                hidden += _add_frame(archive, main, root)
            changed[name] = etree.tostring(root.getroottree(), encoding="UTF-8", xml_declaration=True)
    written = io.BytesIO()
    with ZipFile(written, "w") as copy:
        for name in archive.namelist():
            if name.endswith((".xml", ".rels")):  # pictures are not read
                copy.writestr(name, changed.get(name) or archive.read(name))
    return written.getvalue(), hidden


def _write_numbers(root: Any, numbers: Numbers) -> None:
    """Write the number of each paragraph of a document before its text, between signs."""
    for paragraph in root.iter("{*}p"):
        if (number := numbers.label(paragraph)) and text_of(paragraph).strip():
            paragraph.find("{*}pPr").addnext(run_of(root, f"{_NUMBER}{number}{_END}"))


def _placed(found: re.Match[str]) -> str:
    """Put a number before the text of a heading or a paragraph, and in the place of an item's."""
    if not found[1]:
        return f"{found[2]} "
    number = found[2] if _USUAL.fullmatch(found[2]) else f"- {found[2]}"
    return f'<li {WORD_NUMBER}="{number}">'


def _unread(archive: ZipFile, main: str, messages: list[str]) -> list[str]:
    """Return notes of the elements that mammoth ignored with text in them, and of comments, charts and SmartArt."""
    names = {found[1] for message in messages if (found := _IGNORED.match(message))}
    root: Any = parse_xml(archive.read(main)) if names else None
    notes = [
        f'the text in elements "{name}" of the file is not read'
        for name in sorted(names)
        if name == "altChunk" or any(text_of(element).strip() for element in root.iterfind(f".//{{*}}{name}"))
    ]
    charts, graphics = (len(targets(archive, main, kind)) for kind in ("/chart", "/diagramData"))
    counts = {"comment": comments_on(archive, main), "chart": charts, "SmartArt graphic": graphics}
    return notes + unread_note(counts)


def _add_frame(archive: ZipFile, main: str, root: Any) -> list[str]:
    """Put the page headers above the text and the footers below it; return their hidden texts."""
    body = root.find("{*}body")
    if body is None:
        return []
    (headers, hidden), (footers, more) = (_frame(archive, main, root, kind) for kind in ("header", "footer"))
    body[:0] = headers
    body.extend(footers)
    return hidden + more


def _frame(archive: ZipFile, main: str, root: Any, kind: str) -> tuple[list[Any], list[str]]:
    """Return the blocks of page headers or footers, each text once, and what is hidden in them.

    Those of a first page count where its section has them (``titlePg``).
    """
    parts = targets(archive, main, f"/{kind}")
    seen: dict[str, Any] = {}
    hidden: list[str] = []
    for link in root.iter(f"{{*}}{kind}Reference"):
        unused = attribute(link, "type") == "first" and link.getparent().find("{*}titlePg") is None
        if unused or (part := parts.pop(attribute(link, "id") or "", None)) is None:
            continue
        frame = parse_xml(archive.read(part))
        _drop_page_numbers(frame)
        hidden += write_out(frame)
        etree.strip_elements(frame, "{*}pPr", "{*}blip", "{*}imagedata")  # no page header is a heading
        for hyperlink in frame.iter("{*}hyperlink"):  # it refers to another part
            hyperlink.attrib.clear()
        for block in frame.iterchildren("{*}p", "{*}tbl", "{*}sdt"):
            seen.setdefault(" ".join(text_of(block).split()), block)
    return [block for text, block in seen.items() if text], hidden


def _drop_page_numbers(frame: Any) -> None:
    """Empty the paragraphs of a page header or footer that are a page number."""
    for paragraph in frame.iter("{*}p"):
        fields = [attribute(field, "instr") or "" for field in paragraph.iter("{*}fldSimple")]
        fields += [field.text or "" for field in paragraph.iter("{*}instrText")]
        if any("PAGE" in field for field in fields) and is_page_number(text_of(paragraph)):
            for words in paragraph.iter("{*}t"):
                words.text = ""
