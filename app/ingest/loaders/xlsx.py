"""Load Excel workbooks with openpyxl: a sheet is a section with one table."""

import io
from zipfile import ZipFile

from openpyxl import load_workbook

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.archive import parse_xml, property_title, targets, unpacked
from app.ingest.loaders.cell_format import shown
from app.ingest.loaders.outline import Outline, title_from_name
from app.ingest.loaders.sheet_parts import filled
from app.ingest.loaders.sheet_rows import add_rows
from app.ingest.loaders.xlsx_sheet import SheetPart, drawn

MAX_NAMED = 5
"""Cells of a sheet that are named one by one; the others are counted."""
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def load(data: bytes, source: str) -> LoadedDocument:
    """Read the visible cells of a workbook as they show their values, and text boxes; a formula counts by saved value.

    Notes name hidden sheets, rows and columns, comments, charts, and formulas without a saved value. Title: the
    property, or the file name. Raises ``Unreadable`` when it is encrypted, damaged or too large.
    """
    outline = Outline()
    notes: list[str] = []
    with unpacked(data, "Excel workbook") as archive:
        title = property_title(archive) or title_from_name(source)
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        members, never_saved = _members(archive)
        for sheet in book.worksheets:
            if sheet.sheet_state != "visible":
                notes.append(f'the hidden sheet "{sheet.title}" is not read')
                continue
            sheet.reset_dimensions()  # what a file declares can be far more than it holds
            part = SheetPart(archive, members.get(sheet.title, ""), zero_is_none=never_saved)
            missing = part.never_calculated
            left_out = set(missing)
            written = [
                [
                    "" if cell.value is None or cell.coordinate in left_out else shown(cell.value, cell.number_format)
                    for cell in row
                ]
                for row in sheet.iter_rows()
            ]
            rows = part.as_shown(written)
            add_rows(outline, rows, sheet.title)
            boxes, unread = drawn(archive, part.member)
            if boxes and not any(map(filled, rows)):
                outline.heading(1, sheet.title)
            for box in boxes:
                outline.add(box)
            if left := [*part.hidden, *unread]:
                notes.append(f'not read on the sheet "{sheet.title}": {", ".join(left)}')
            if missing:
                more = f" and {len(missing) - MAX_NAMED} more" if len(missing) > MAX_NAMED else ""
                notes.append(
                    f'formulas of the sheet "{sheet.title}" were never calculated, and their cells are empty: '
                    f"{', '.join(missing[:MAX_NAMED])}{more}; save the workbook in a spreadsheet program"
                )
    return outline.document(source, title).model_copy(update={"notes": tuple(notes)})


def _members(archive: ZipFile) -> tuple[dict[str, str], bool]:
    """Return sheet title → name of the sheet's part, and whether the program that opens the file is to calculate."""
    if "xl/workbook.xml" not in archive.namelist():
        return {}, False
    sheets = targets(archive, "xl/workbook.xml", "/worksheet")
    book = parse_xml(archive.read("xl/workbook.xml"))
    parts = {sheet.get("name"): sheets.get(sheet.get(_RELATION), "") for sheet in book.iterfind("{*}sheets/{*}sheet")}
    calculate = book.find("{*}calcPr")
    unsaved = calculate is not None and calculate.get("fullCalcOnLoad") in ("1", "true")
    return parts, unsaved
