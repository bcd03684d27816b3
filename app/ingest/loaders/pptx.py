"""Load PowerPoint presentations with python-pptx: a slide is a section and a page."""

import io
from collections.abc import Iterable, Iterator

from pptx import Presentation
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.shapes.autoshape import Shape
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape

from app.ingest.documents import Kind, LoadedDocument
from app.ingest.loaders.archive import property_title, unpacked
from app.ingest.loaders.outline import Outline, table_text

_FRAME = {PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.HEADER}


def load(data: bytes, source: str) -> LoadedDocument:
    """Read the slides of a presentation: titles, text, tables and speaker notes.

    Pages are slide numbers, from 1, without hidden slides. Title: the property, the first slide's, or the file name.
    Raises ``Unreadable`` when it is encrypted, damaged or too large.
    """
    outline = Outline()
    with unpacked(data, "PowerPoint presentation") as archive:
        title = property_title(archive)
        for number, slide in enumerate(Presentation(io.BytesIO(data)).slides, 1):
            if slide.element.get("show") == "0":
                continue
            blocks = list(_blocks(slide.shapes))
            notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
            if notes is not None and notes.text.strip():
                blocks.append(("Speaker notes: " + " ".join(notes.text.split()), "prose"))
            name = slide.shapes.title.text_frame.text.strip() if slide.shapes.title is not None else ""
            outline.heading(1, name or (f"Slide {number}" if blocks else ""), number)
            for text, kind in blocks:
                outline.add(text, kind, number)
    return outline.document(source, title or None)


def _blocks(shapes: Iterable[BaseShape]) -> Iterator[tuple[str, Kind]]:
    """Yield tables, lists and single paragraphs, without title, number, date, header and footer."""
    for shape in shapes:
        if isinstance(shape, GroupShape):
            yield from _blocks(shape.shapes)
        elif isinstance(shape, GraphicFrame) and shape.has_table:
            yield table_text([cell.text for cell in row.cells] for row in shape.table.rows), "table"
        elif isinstance(shape, Shape):
            holder = shape.placeholder_format if shape.is_placeholder else None
            paras = [para for para in shape.text_frame.paragraphs if para.text.strip()]
            lines = [(para.level, " ".join(para.text.split())) for para in paras]
            if not lines or (holder is not None and (holder.idx == 0 or holder.type in _FRAME)):
                continue
            items = "\n".join(f"{'  ' * level}- {text}" for level, text in lines)
            yield (items, "list") if len(lines) > 1 else (lines[0][1], "prose")
