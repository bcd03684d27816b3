"""Load Excel workbooks: a sheet is a section with its tables.

openpyxl reads the values; what it leaves out when it only reads (merged and hidden cells, text boxes, comments) is read
of the sheet's XML. The elements are those of SpreadsheetML (ECMA-376, part 1, 18.3).
"""

import io
from contextlib import suppress
from zipfile import ZipFile

from lxml import etree
from openpyxl import load_workbook
from openpyxl.worksheet.cell_range import CellRange

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.archive import comments_on, local, parse_xml, property_title, targets, text_of, unpacked
from app.ingest.loaders.cell_format import shown
from app.ingest.loaders.header_rows import filled
from app.ingest.loaders.outline import Outline, number_of, title_from_name, unread_note
from app.ingest.loaders.sheet_rows import add_rows

MAX_NAMED = 5  # cells of a sheet that are named one by one; the others are counted
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
MAX_MERGED_ROWS, MAX_MERGED_COLUMNS, MAX_MERGED = 200, 50, 10_000
"""Most rows and columns of one merged cell that are filled, and most merged cells."""
MAX_COLUMNS = 16_384  # columns of a sheet
_MARKS = (b"<f", b"hidden=", b"<mergeCell")
_TAGS = ("{*}c", "{*}row", "{*}col", "{*}mergeCell")


def load(data: bytes, source: str) -> LoadedDocument:
    """Read the visible cells of a workbook as they show their values, and text boxes; a formula counts by saved value.

    Notes name hidden sheets, rows and columns, comments, charts, and formulas without a saved value. Title: the
    property, or the file name. Raises ``Unreadable`` when it is encrypted, damaged or too large.
    """
    outline = Outline()
    with unpacked(data, "Excel workbook") as archive:
        title = property_title(archive) or title_from_name(source)
        book = load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False)
        members, never_saved = _members(archive)
        for sheet in book.worksheets:
            if sheet.sheet_state != "visible":
                outline.notes.append(f'the hidden sheet "{sheet.title}" is not read')
                continue
            sheet.reset_dimensions()  # what a file declares can be far more than it holds
            member = members.get(sheet.title, "")
            part = _SheetPart(archive.read(member) if member else b"", zero_is_none=never_saved)
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
            boxes, charts = _drawn(archive, member)
            if boxes and not any(map(filled, rows)):
                outline.heading(1, sheet.title)
            for box in boxes:
                outline.add(box)
            unread = part.hidden | {"comment": comments_on(archive, member), "chart": charts}
            outline.notes += unread_note(unread, f' on the sheet "{sheet.title}"')
            if missing:
                more = f" and {len(missing) - MAX_NAMED} more" if len(missing) > MAX_NAMED else ""
                outline.notes.append(
                    f'formulas of the sheet "{sheet.title}" were never calculated, and their cells are empty: '
                    f"{', '.join(missing[:MAX_NAMED])}{more}; save the workbook in a spreadsheet program"
                )
    return outline.document(source, title)


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


class _SheetPart:
    """What a sheet's part says of its cells."""

    def __init__(self, content: bytes, *, zero_is_none: bool) -> None:
        """Read the part.

        *zero_is_none*: a formula's value of 0 is none; XlsxWriter writes it, and asks the program that opens the file
        to calculate.
        """
        self.never_calculated: list[str] = []
        """Cells that have a formula and no value; an empty text is one."""
        self.hidden: dict[str, int] = {}
        """What ``as_shown`` left out."""
        self._merged: list[tuple[int, int, int, int]] = []
        self._hidden_rows: set[int] = set()
        self._hidden_columns: set[int] = set()
        if not any(mark in content for mark in _MARKS):
            return
        row = 0
        for _, element in etree.iterparse(io.BytesIO(content), tag=_TAGS, resolve_entities=False, no_network=True):
            is_hidden = element.get("hidden") in ("1", "true")
            match local(element):
                case "c":
                    value = element.findtext("{*}v") or ("" if element.get("t") == "str" else None)
                    missing = value is None or (zero_is_none and value == "0")
                    if missing and element.find("{*}f") is not None:
                        self.never_calculated.append(element.get("r") or "?")
                case "row":
                    row = number_of(element.get("r")) or row + 1
                    if is_hidden:
                        self._hidden_rows.add(row - 1)
                case "col" if is_hidden:
                    first, last = number_of(element.get("min")), min(number_of(element.get("max")), MAX_COLUMNS)
                    self._hidden_columns.update(range(first - 1, last))
                case "mergeCell" if len(self._merged) < MAX_MERGED:
                    with suppress(ValueError, TypeError):  # no range, or one of whole rows
                        area = CellRange(element.get("ref") or "")
                        self._merged.append((area.min_row - 1, area.min_col - 1, area.max_row - 1, area.max_col - 1))
            element.clear()

    def as_shown(self, rows: list[list[str]]) -> list[list[str]]:
        """Return the rows from the first row and column of the sheet, merged cells filled, without hidden ones."""
        self._fill_merged(rows)
        hidden_rows = [at for at in self._hidden_rows if at < len(rows) and any(rows[at])]
        columns = {at for row in rows for at, cell in enumerate(row) if cell} & self._hidden_columns
        self.hidden = {"hidden row": len(hidden_rows), "hidden column": len(columns)}
        return [
            [cell for at, cell in enumerate(row) if at not in self._hidden_columns]
            for number, row in enumerate(rows)
            if number not in self._hidden_rows
        ]

    def _fill_merged(self, rows: list[list[str]]) -> None:
        """Write the value of a merged cell into all of its cells; a title, from the first column on, stands once."""
        first = min((at for row in rows for at, cell in enumerate(row) if cell), default=0)
        titles = {top for top, left, _, right in self._merged if left <= first < right}
        for top, left, bottom, right in self._merged:
            value = rows[top][left] if top < len(rows) and left < len(rows[top]) else ""
            if not value:
                continue
            last = left if top in titles else min(right, left + MAX_MERGED_COLUMNS - 1)
            for row in rows[top : min(bottom + 1, top + MAX_MERGED_ROWS)]:
                row += [""] * (last + 1 - len(row))
                row[left : last + 1] = [value] * (last + 1 - left)


def _drawn(archive: ZipFile, member: str) -> tuple[list[str], int]:
    """Return the texts of a sheet's text boxes, and how many charts lie on its cells."""
    boxes: list[str] = []
    drawings = targets(archive, member, "/drawing").values()
    for shape in (shape for drawing in drawings for shape in parse_xml(archive.read(drawing)).iter("{*}txBody")):
        lines = map(text_of, shape.iter("{*}p"))
        boxes.append("\n".join(line for line in lines if line.strip()))
    return list(filter(None, boxes)), sum(len(targets(archive, drawing, "/chart")) for drawing in drawings)
