"""Load Word documents: mammoth makes HTML of them, which the HTML loader reads."""

import io
import re
from html import escape

import mammoth

from app.ingest.documents import LoadedDocument
from app.ingest.loaders import html
from app.ingest.loaders.archive import property_title, unpacked
from app.ingest.loaders.docx_package import unread, whole
from app.ingest.loaders.html_content import hidden_note

_STYLES = "\n".join(
    ["p[style-name='Title'] => h1:fresh", "p[style-name^='toc '] => !"]
    + [
        f"{paragraph} => h{min(n + 1, 6)}:fresh"
        for n in range(1, 10)
        for paragraph in (f"p[style-name='heading {n}']", f"p.Heading{n}")
    ]
)
"""The title is the only ``h1``, so that no first chapter is taken for it; the table of contents is left out.

mammoth compares names of styles whatever their case.
"""

_BACK_LINK = re.compile(r' ?<a href="#[^"]*">↑</a>')


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a Word document: headings, lists, tables, footnotes, page headers and footers; no pictures or comments.

    Notes tell of hidden text, comments and elements that are not read. Title: the paragraph of style Title, the
    property, a single heading, or the file name. The file stores no pages.
    Raises ``Unreadable`` when it is encrypted, damaged or too large.
    """
    with unpacked(data, "Word document") as archive:
        title = property_title(archive)
        content, hidden = whole(archive)
        result = mammoth.convert_to_html(
            io.BytesIO(content),
            style_map=_STYLES,
            include_embedded_style_map=False,
            convert_image=lambda _image: [],
            external_file_access=False,
        )
        notes = [*hidden_note(hidden), *unread(archive, [message.message for message in result.messages])]
    page = f'<meta charset="utf-8"><title>{escape(title)}</title>{_BACK_LINK.sub("", result.value)}'
    document = html.load(page.encode(), source)
    return document.model_copy(update={"notes": (*document.notes, *notes)})
