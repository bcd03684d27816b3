"""Load Excel workbooks with openpyxl: a sheet is a section with one table."""

import io
from datetime import datetime, time
from typing import Any

from openpyxl import load_workbook

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.archive import property_title, unpacked
from app.ingest.loaders.csv_file import add_rows
from app.ingest.loaders.outline import Outline, title_from_name


def load(data: bytes, source: str) -> LoadedDocument:
    """Read the visible sheets of a workbook; a formula counts by its saved value.

    Title: the property, or the file name. Raises ``Unreadable`` when it is encrypted, damaged or too large.
    """
    outline = Outline()
    with unpacked(data, "Excel workbook") as archive:
        title = property_title(archive) or title_from_name(source)
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        for sheet in book.worksheets:
            if sheet.sheet_state == "visible":
                sheet.reset_dimensions()  # what a file declares can be far more than it holds
                add_rows(outline, ([_shown(cell) for cell in row] for row in sheet.iter_rows()), sheet.title)
    return outline.document(source, title)


def _shown(cell: Any) -> str:
    """Format a value much as Excel does: dates without time, percentages, no rounding errors."""
    value = cell.value
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, int | float):
        return f"{value * 100:.12g}%" if "%" in cell.number_format else f"{value:.15g}"
    if isinstance(value, datetime):
        return value.date().isoformat() if value.time() == time() else value.isoformat(" ", "seconds")
    return str(value)
