"""The cells of a workbook are read as the sheet shows them."""

from __future__ import annotations

import zipfile
from datetime import date, datetime, time, timedelta
from pathlib import Path

import openpyxl
import pytest
import xlsxwriter
from openpyxl.comments import Comment

from app.ingest.loaders.cell_format import shown
from tests.app.ingest.conftest import load_one, texts


@pytest.mark.parametrize(
    ("value", "code", "text"),
    [
        (417, "00000", "00417"),
        (123456789, "000-00-0000", "123-45-6789"),
        (12, '"Nr. "000', "Nr. 012"),
        (3.14159, "0.00", "3.14"),
        (2.5, "0", "3"),
        (1234.5, "#,##0.00", "1,234.50"),
        (0, "#,##0", "0"),
        (12.5, '#,##0.00\\ "€"', "12.50 €"),
        (12.5, '_("$"* #,##0.00_);_("$"* (#,##0.00);_("$"* "-"??_);_(@_)', "$12.50"),
        (-5, "0.00;[Red](0.00)", "(5.00)"),
        (-5, "0.0 [$kg-407]", "-5.0 kg"),
        (0, '0;-0;"none"', "none"),
        (1_234_567, '0.0,,"M"', "1.2M"),
        (0.155, "0%", "16%"),
        (0.155, "0.0#%", "15.5%"),
        (0.000123, "0.00E+00", "1.23E-4"),
        (0.5, "# ?/?", "0.5"),
        (0.1 + 0.2, "General", "0.3"),
        (123_456_789_012, "General", "123456789012"),
        (5, 'General" kg"', "5 kg"),
        (True, "General", "TRUE"),
        (timedelta(hours=26, minutes=5), "[h]:mm", "26:05"),
        (timedelta(hours=26), "[hh]:mm:ss", "26:00:00"),
        (timedelta(minutes=95), "[mm]:ss", "95:00"),
        (time(14, 5), "h:mm", "14:05"),
        (time(14, 5), "h:mm AM/PM", "2:05 PM"),
        (date(2026, 5, 1), "dd.mm.yyyy", "2026-05-01"),
        (datetime.fromisoformat("2026-05-01"), "[$-407]d. mmmm yyyy;@", "2026-05-01"),
        (datetime.fromisoformat("2026-05-01"), "mmmm\\ yyyy", "May 2026"),
        (datetime.fromisoformat("2025-01-30"), "d mmm yyyy", "30 Jan 2025"),
        (datetime.fromisoformat("2025-01-05"), "mmmm d, yyyy", "January 5, 2025"),
        (datetime.fromisoformat("2025-01-05"), "dd\\-mmm\\-yy", "5-Jan-2025"),
        (datetime.fromisoformat("2025-01-05"), "[$-409]dddd, d mmmm yyyy;@", "Sunday, 5 January 2025"),
        (datetime.fromisoformat("2025-01-05 08:30"), "d mmm yyyy h:mm", "5 Jan 2025 08:30"),
        (datetime.fromisoformat("2026-05-01 08:30"), "dd/mm/yy h:mm", "2026-05-01 08:30"),
    ],
)
def test_a_value_is_shown_by_its_number_format(value: object, code: str, text: str) -> None:
    """Leading zeros, units, percents, durations and dates read as in the sheet, dates in numbers as ISO 8601."""
    assert shown(value, code) == text


def test_formats_and_durations_of_a_workbook(tmp_path: Path) -> None:
    """A part number keeps its zeros, a duration of more than a day its hours."""
    made = openpyxl.Workbook()
    assert made.active is not None
    made.active.append(["Part", "Running time", "Share"])
    made.active.append([417, timedelta(hours=30, minutes=15), 0.125])
    for cell, code in (("A2", "00000"), ("B2", "[h]:mm"), ("C2", "0.0%")):
        made.active[cell].number_format = code
    made.save(path := tmp_path / "a.xlsx")
    assert texts(load_one(path)) == ["| Part | Running time | Share |\n| 00417 | 30:15 | 12.5% |"]


def test_what_was_not_calculated_is_named(tmp_path: Path) -> None:
    """A formula without a saved value is an empty cell, named with its sheet; so is a hidden sheet."""
    made = openpyxl.Workbook()
    assert made.active is not None
    made.active.append(["Part", "Price"])
    made.active.append(["Bolt", 2])
    made.active.append(["Total", "=SUM(B2:B2)"])
    made.create_sheet("Rates").sheet_state = "hidden"
    made.save(path := tmp_path / "a.xlsx")
    document = load_one(path)
    assert texts(document) == ["| Part | Price |\n| Bolt | 2 |\n| Total |  |"]
    hidden = 'the hidden sheet "Rates" is not read'
    missing = 'formulas of the sheet "Sheet" were never calculated, and their cells are empty: B3; '
    assert document.notes == (f"{missing}save the workbook in a spreadsheet program", hidden)


@pytest.mark.parametrize(
    ("value", "calculate", "shown_as", "named"),
    [
        ("<v>2</v>", "", "2", False),
        ("<v>0</v>", "", "0", False),
        ("<v></v>", "", "", True),
        ("<v>0</v>", ' fullCalcOnLoad="1"', "", True),
    ],
)
def test_a_saved_value_counts(value: str, calculate: str, shown_as: str, named: bool, tmp_path: Path) -> None:
    """A value that a program saved is shown; an empty one, or a 0 that a library wrote in its place, is none."""
    made = openpyxl.Workbook()
    assert made.active is not None
    made.active.append(["Part", "Price"])
    made.active.append(["Total", "=A1"])
    made.save(path := tmp_path / "a.xlsx")
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(changed := tmp_path / "b.xlsx", "w") as target:
        for name in source.namelist():
            content = source.read(name).replace(b"<v></v>", b"<v />").replace(b"<v />", value.encode())
            target.writestr(name, content.replace(b' fullCalcOnLoad="1"', calculate.encode()))
    document = load_one(changed)
    assert texts(document) == [f"| Part | Price |\n| Total | {shown_as} |"]
    assert bool(document.notes) is named


def test_merged_and_hidden_cells(tmp_path: Path) -> None:
    """A merged cell counts in each row and column it stands in, a title once; what is hidden is counted, not read."""
    made = openpyxl.Workbook()
    sheet = made.active
    assert sheet is not None
    for row in (
        ["Moorings", None, None, None],
        ["Pier", "Boat", "Fee", None],
        [None, None, "Day", "Year", "Cost"],
        ["East", "Ada", 4, 90, 1],
        [None, "Bo", 3, 80, 2],
        [None, "Cy", "free", None, 3],
    ):
        sheet.append(row)
    for merged in ("A1:D1", "A2:A3", "B2:B3", "C2:D2", "A4:A6", "C6:D6"):
        sheet.merge_cells(merged)
    sheet.column_dimensions["E"].hidden = True
    sheet.row_dimensions[5].hidden = True
    sheet["B4"].comment = Comment("Repaired in May.", "Ann")
    made.save(path := tmp_path / "a.xlsx")
    document = load_one(path)
    assert texts(document) == [
        "Moorings",
        "| Pier | Boat | Fee Day | Fee Year |\n| East | Ada | 4 | 90 |\n| East | Cy | free | free |",
    ]
    assert document.notes == ('not read on the sheet "Sheet": 1 hidden row, 1 hidden column, 1 comment',)


def test_a_group_of_columns_ends_with_its_merged_cells(tmp_path: Path) -> None:
    """A column beside a merged name of two others is of no group, and an empty cell at the end of a row stays one."""
    made = openpyxl.Workbook()
    sheet = made.active
    assert sheet is not None
    for row in (
        ["Region", "Half-year 1", None, None, "Half-year 2"],
        [None, "Pumps", "Valves", "Growth", "Pumps", "Valves"],
        ["North", 1, 2, 5, 3, 4],
        ["South", 11, 12, 15, 13, None],
    ):
        sheet.append(row)
    for merged in ("B1:C1", "E1:F1"):
        sheet.merge_cells(merged)
    made.save(path := tmp_path / "a.xlsx")
    (table,) = texts(load_one(path))
    assert table.split("\n") == [
        "| Region | Half-year 1 Pumps | Half-year 1 Valves | Growth | Half-year 2 Pumps | Half-year 2 Valves |",
        "| North | 1 | 2 | 5 | 3 | 4 |",
        "| South | 11 | 12 | 15 | 13 |  |",
    ]


def test_what_lies_on_the_cells(tmp_path: Path) -> None:
    """A text box is read below the table of its sheet, and a chart is named."""
    with xlsxwriter.Workbook(path := tmp_path / "a.xlsx") as made:
        sheet = made.add_worksheet("Tides")
        sheet.write_row(0, 0, ["Day", "Metres"])
        sheet.write_row(1, 0, ["Monday", 4])
        sheet.insert_textbox(5, 0, "The gauge stands\non the east pier.")
        chart = made.add_chart({"type": "line"})
        chart.add_series({"values": "=Tides!$B$2:$B$2"})
        sheet.insert_chart(9, 0, chart)
    document = load_one(path)
    assert texts(document) == ["| Day | Metres |\n| Monday | 4 |", "The gauge stands\non the east pier."]
    assert document.notes == ('not read on the sheet "Tides": 1 chart',)
