"""Load PowerPoint presentations with python-pptx: a slide is a section and a page.

Charts and SmartArt graphics are read of their DrawingML (ECMA-376, part 1: 21.2 charts, 21.4 diagrams).
"""

import io
from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Any

from pptx import Presentation
from pptx.enum.shapes import PP_PLACEHOLDER
from pptx.shapes.autoshape import Shape
from pptx.shapes.base import BaseShape
from pptx.shapes.graphfrm import GraphicFrame
from pptx.shapes.group import GroupShape
from pptx.table import Table

from app.ingest.documents import Kind, LoadedDocument
from app.ingest.loaders.archive import parse_xml, property_title, text_of, unpacked
from app.ingest.loaders.cell_format import shown
from app.ingest.loaders.header_rows import one_header
from app.ingest.loaders.outline import Outline, table_block, table_text, unread_note

_DATA = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}dm"
_FRAME = {PP_PLACEHOLDER.SLIDE_NUMBER, PP_PLACEHOLDER.DATE, PP_PLACEHOLDER.FOOTER, PP_PLACEHOLDER.HEADER}
_DAY_ZERO = date(1899, 12, 30)  # day 0 of the dates of a workbook


def load(data: bytes, source: str) -> LoadedDocument:
    """Read the slides of a presentation: titles, text, tables, charts as tables, SmartArt as lists, speaker notes.

    A note counts hidden slides and other objects. Pages are slide numbers, from 1, without hidden slides. Title: the
    property, the first slide's, or the file name.
    Raises ``Unreadable`` when it is encrypted, damaged or too large.
    """
    outline = Outline()
    hidden = 0
    unread: list[str] = []
    with unpacked(data, "PowerPoint presentation") as archive:
        title = property_title(archive)
        for number, slide in enumerate(Presentation(io.BytesIO(data)).slides, 1):
            if slide.element.get("show") == "0":
                hidden += 1
                continue
            blocks = list(_blocks(slide.shapes, unread))
            notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
            if notes is not None and notes.text.strip():
                blocks.append(("Speaker notes: " + " ".join(notes.text.split()), "prose"))
            name = slide.shapes.title.text_frame.text.strip() if slide.shapes.title is not None else ""
            outline.heading(1, name or (f"Slide {number}" if blocks else ""), number)
            for text, kind in blocks:
                outline.add(text, kind, number)
    outline.notes += unread_note({"hidden slide": hidden, "chart or other object": len(unread)})
    return outline.document(source, title or None)


def _blocks(shapes: Iterable[BaseShape], unread: list[str]) -> Iterator[tuple[str, Kind]]:
    """Yield tables, lists and single paragraphs, without title, number, date, header and footer.

    The names of objects of which nothing is known are added to *unread*.
    """
    for shape in shapes:
        if isinstance(shape, GroupShape):
            yield from _blocks(shape.shapes, unread)
        elif isinstance(shape, GraphicFrame):
            blocks = list(_framed(shape))
            unread += [] if blocks else [shape.name]
            yield from blocks
        elif isinstance(shape, Shape):
            holder = shape.placeholder_format if shape.is_placeholder else None
            paras = [para for para in shape.text_frame.paragraphs if para.text.strip()]
            lines = [(para.level, " ".join(para.text.split())) for para in paras]
            if not lines or (holder is not None and (holder.idx == 0 or holder.type in _FRAME)):
                continue
            items = "\n".join(f"{'  ' * level}- {text}" for level, text in lines)
            yield (items, "list") if len(lines) > 1 else (lines[0][1], "prose")


def _framed(frame: GraphicFrame) -> Iterator[tuple[str, Kind]]:
    """Yield a table, a chart with its title, or the list of a SmartArt graphic; nothing for another object."""
    if frame.has_table:
        yield table_block(one_header(_cells(frame.table)))
    elif frame.has_chart:
        chart = parse_xml(frame.chart_part.blob)
        if rows := _chart_rows(chart):
            title = " ".join(map(text_of, chart.iterfind("{*}chart/{*}title")))
            yield " ".join(title.split()), "prose"
            yield table_text(rows), "table"
    elif (diagram := next(frame.element.iter("{*}relIds"), None)) is not None:
        data = parse_xml(frame.part.related_part(diagram.get(_DATA, "")).blob)
        lines = (" ".join(text_of(line).split()) for line in data.iterfind(".//{*}pt/{*}t/{*}p"))
        if items := "\n".join(f"- {line}" for line in lines if line):
            yield items, "list"


def _cells(table: Table) -> list[list[str]]:
    """Return the rows of a table; a merged cell stands in each row and column that it covers."""
    rows = [[cell.text for cell in row.cells] for row in table.rows]
    for top, row in enumerate(table.rows):
        for left, cell in enumerate(row.cells):
            right = left + cell.span_width
            for covered in rows[top : top + cell.span_height] if cell.is_merge_origin else []:
                covered[left:right] = [cell.text] * len(covered[left:right])
    return rows


def _chart_rows(chart: Any) -> list[list[str]]:
    """Return a table of a chart's categories and the values of each series; no rows for none."""
    series = list(chart.iter("{*}ser"))
    categories: dict[int, str] = {}
    columns: list[dict[int, str]] = []
    for one in series:
        categories = _points(one, "cat") | _points(one, "xVal") | categories
        columns.append(_points(one, "val") | _points(one, "yVal"))
    header = ["", *(one.findtext("{*}tx//{*}v") or "" for one in series)]
    places = sorted({place for column in columns for place in column})
    rows = [[categories.get(place, ""), *(column.get(place, "") for column in columns)] for place in places]
    return [header, *rows] if rows else []


def _points(series: Any, name: str) -> dict[int, str]:
    """Return number → text of the categories or values of a series; of categories in levels the innermost."""
    holder = series.find(f"{{*}}{name}")
    if holder is None:
        return {}
    level = holder.find(".//{*}lvl")
    points = (holder if level is None else level).iterfind(".//{*}pt")
    texts = {int(at): point.findtext("{*}v") or "" for point in points if (at := point.get("idx") or "").isdecimal()}
    if holder.find("{*}numRef") is None:
        return texts
    code = holder.findtext(".//{*}formatCode") or "General"
    return {at: _shown(value, code) for at, value in texts.items()}


def _shown(value: str, code: str) -> str:
    """Return a number by its number format, a date as ISO 8601."""
    try:
        number = float(value)
    except ValueError:
        return value
    if "yy" in code.lower() and 0 < number < 1_000_000:
        return (_DAY_ZERO + timedelta(days=int(number))).isoformat()
    return shown(number, code)
