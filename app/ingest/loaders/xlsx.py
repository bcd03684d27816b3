"""Load Excel workbooks: a sheet is a section with its tables.

openpyxl reads the values; what it leaves out when it only reads (merged and hidden cells, text boxes, comments) is read
of the sheet's XML. The elements are those of SpreadsheetML (ECMA-376, part 1, 18.3).
"""

import io
import re
from zipfile import ZipFile

from openpyxl import load_workbook

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.archive import elements, parse_xml, property_title, targets, unpacked
from app.ingest.loaders.cell_format import shown
from app.ingest.loaders.outline import Outline, counted, title_from_name
from app.ingest.loaders.sheet_rows import add_rows, filled

MAX_NAMED = 5
"""Cells of a sheet that are named one by one; the others are counted."""
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"

MAX_MERGED_ROWS, MAX_MERGED_COLUMNS, MAX_MERGED = 200, 50, 10_000
"""Most rows and columns of one merged cell that are filled, and most merged cells."""
MAX_COLUMNS = 16_384
"""Columns of a sheet."""
_MARKS = (b"<f", b"hidden=", b"<mergeCell")
_CELL = re.compile(r"\$?([A-Z]{1,3})\$?([1-9]\d{0,6})")


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


class SheetPart:
    """What a sheet's part says of its cells."""

    def __init__(self, archive: ZipFile, member: str, *, zero_is_none: bool) -> None:
        """Read the part *member*, "" for none.

        *zero_is_none*: a formula's value of 0 is none; XlsxWriter writes it, and asks the program that opens the file
        to calculate.
        """
        self.member = member
        self.never_calculated: list[str] = []
        """Cells that have a formula and no value; an empty text is one."""
        self.hidden: list[str] = []
        """What ``as_shown`` left out."""
        self._merged: list[tuple[int, int, int, int]] = []
        self._hidden_rows: set[int] = set()
        self._hidden_columns: set[int] = set()
        content = archive.read(member) if member else b""
        if any(mark in content for mark in _MARKS):
            self._read(archive, zero_is_none=zero_is_none)

    def _read(self, archive: ZipFile, *, zero_is_none: bool) -> None:
        row = 0
        for element in elements(archive, self.member, "c", "row", "col", "mergeCell"):
            is_hidden = element.get("hidden") in ("1", "true")
            match element.tag.rpartition("}")[2]:
                case "c":
                    value = element.findtext("{*}v") or ("" if element.get("t") == "str" else None)
                    missing = value is None or (zero_is_none and value == "0")
                    if missing and element.find("{*}f") is not None:
                        self.never_calculated.append(element.get("r") or "?")
                case "row":
                    row = _number(element.get("r")) or row + 1
                    if is_hidden:
                        self._hidden_rows.add(row - 1)
                case "col" if is_hidden:
                    first, last = _number(element.get("min")), min(_number(element.get("max")), MAX_COLUMNS)
                    self._hidden_columns.update(range(first - 1, last))
                case "mergeCell" if len(self._merged) < MAX_MERGED:
                    corners = [_place(*found) for found in _CELL.findall(element.get("ref") or "")]
                    if len(corners) == 2:
                        self._merged.append((*corners[0], *corners[1]))

    def as_shown(self, rows: list[list[str]]) -> list[list[str]]:
        """Return the rows from the first row and column of the sheet, merged cells filled, without hidden ones."""
        self._fill_merged(rows)
        hidden_rows = [at for at in self._hidden_rows if at < len(rows) and any(rows[at])]
        columns = {at for row in rows for at, cell in enumerate(row) if cell} & self._hidden_columns
        self.hidden = [*counted(len(hidden_rows), "hidden row"), *counted(len(columns), "hidden column")]
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


def _place(letters: str, number: str) -> tuple[int, int]:
    """Return row and column of a cell, from 0."""
    column = 0
    for letter in letters:
        column = column * 26 + ord(letter) - ord("A") + 1
    return int(number) - 1, column - 1


def drawn(archive: ZipFile, member: str) -> tuple[list[str], list[str]]:
    """Return the texts of a sheet's text boxes, and what else lies on its cells and is not read."""
    boxes: list[str] = []
    charts = 0
    for drawing in targets(archive, member, "/drawing").values():
        charts += len(targets(archive, drawing, "/chart"))
        for shape in parse_xml(archive.read(drawing)).iter("{*}txBody"):
            lines = ("".join(part.text or "" for part in line.iter("{*}t")) for line in shape.iter("{*}p"))
            boxes.append("\n".join(line for line in lines if line.strip()))
    parts = targets(archive, member, "/comments").values()
    comments = sum(1 for part in parts for _ in parse_xml(archive.read(part)).iter("{*}comment"))
    return [box for box in boxes if box], [*counted(comments, "comment"), *counted(charts, "chart")]


def _number(text: str | None) -> int:
    """Return a number as the file gives it; 0 for none."""
    return int(text) if text and text.isdecimal() and len(text) < 8 else 0
