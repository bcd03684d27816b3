"""Load Excel workbooks with openpyxl: a sheet is a section with one table."""

import io
from posixpath import join, normpath
from zipfile import ZipFile

from lxml import etree
from openpyxl import load_workbook

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.archive import parse_xml, property_title, unpacked
from app.ingest.loaders.cell_format import shown
from app.ingest.loaders.outline import Outline, title_from_name
from app.ingest.loaders.sheet_rows import add_rows

MAX_NAMED = 5
"""Cells of a sheet that are named one by one; the others are counted."""
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def load(data: bytes, source: str) -> LoadedDocument:
    """Read the visible sheets of a workbook as they show their values; a formula counts by its saved value.

    Notes name hidden sheets, and formulas without a saved value. Title: the property, or the file name. Raises
    ``Unreadable`` when it is encrypted, damaged or too large.
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
            missing = _never_calculated(archive, members.get(sheet.title, ""), zero=never_saved)
            left_out = set(missing)
            rows = (
                [
                    "" if cell.value is None or cell.coordinate in left_out else shown(cell.value, cell.number_format)
                    for cell in row
                ]
                for row in sheet.iter_rows()
            )
            add_rows(outline, rows, sheet.title)
            if missing:
                more = f" and {len(missing) - MAX_NAMED} more" if len(missing) > MAX_NAMED else ""
                notes.append(
                    f'formulas of the sheet "{sheet.title}" were never calculated, and their cells are empty: '
                    f"{', '.join(missing[:MAX_NAMED])}{more}; save the workbook in a spreadsheet program"
                )
    return outline.document(source, title).model_copy(update={"notes": tuple(notes)})


def _members(archive: ZipFile) -> tuple[dict[str, str], bool]:
    """Return sheet title → name of the sheet's part, and whether the program that opens the file is to calculate."""
    names = set(archive.namelist())
    if not names >= {"xl/workbook.xml", "xl/_rels/workbook.xml.rels"}:
        return {}, False
    relations = parse_xml(archive.read("xl/_rels/workbook.xml.rels"))
    targets = {link.get("Id"): normpath(join("/xl", link.get("Target") or "")).lstrip("/") for link in relations}
    book = parse_xml(archive.read("xl/workbook.xml"))
    parts = {sheet.get("name"): targets.get(sheet.get(_RELATION), "") for sheet in book.iterfind("{*}sheets/{*}sheet")}
    calculate = book.find("{*}calcPr")
    unsaved = calculate is not None and calculate.get("fullCalcOnLoad") in ("1", "true")
    return {title: part for title, part in parts.items() if part in names}, unsaved


def _never_calculated(archive: ZipFile, member: str, *, zero: bool) -> list[str]:
    """Return the cells of a sheet that have a formula and no value; an empty text is one.

    *zero*: a value of 0 is none either; XlsxWriter writes it, and asks the program that opens the file to calculate.
    """
    if not member or b"<f" not in archive.read(member):
        return []
    found = []
    with archive.open(member) as part:
        for _, cell in etree.iterparse(part, tag="{*}c", resolve_entities=False, no_network=True):
            value = cell.findtext("{*}v") or ("" if cell.get("t") == "str" else None)
            if cell.find("{*}f") is not None and (value is None or (zero and value == "0")):
                found.append(cell.get("r") or "?")
            cell.clear()
    return found
