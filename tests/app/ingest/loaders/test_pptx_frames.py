"""The charts, diagrams and merged tables of slides are read, and what cannot be read is counted."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pptx
import pytest
from lxml import etree
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.opc.package import Part
from pptx.opc.packuri import PackURI
from pptx.util import Cm

from tests.app.ingest.conftest import load_one, texts

BOX = (Cm(1), Cm(1), Cm(8), Cm(6))
DIAGRAM = "http://schemas.openxmlformats.org/drawingml/2006/diagram"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def slide(made: Any) -> Any:
    return made.slides.add_slide(made.slide_layouts[6])


def bars() -> Any:
    data = CategoryChartData(number_format="0%")
    data.categories = ["East", "West"]
    data.add_series("Full", [0.25, 0.5])
    data.add_series("Free", [0.75, None])
    return XL_CHART_TYPE.COLUMN_CLUSTERED, data


def days() -> Any:
    data = CategoryChartData()
    data.categories = [date(2026, 5, 1), date(2026, 5, 2)]
    data.add_series("Boats", [4, 7])
    return XL_CHART_TYPE.LINE, data


def points() -> Any:
    data = XyChartData()
    data.add_series("Depth").add_data_point(1.5, 9)
    return XL_CHART_TYPE.XY_SCATTER, data


@pytest.mark.parametrize(
    ("drawn", "table"),
    [
        (bars(), "|  | Full | Free |\n| East | 25% | 75% |\n| West | 50% |  |"),
        (days(), "|  | Boats |\n| 2026-05-01 | 4 |\n| 2026-05-02 | 7 |"),
        (points(), "|  | Depth |\n| 1.5 | 9 |"),
    ],
)
def test_a_chart_is_a_table_below_its_title(drawn: Any, table: str, tmp_path: Path) -> None:
    """Each category is a row, with the values of the series as they are formatted."""
    kind, data = drawn
    made = pptx.Presentation()
    chart = slide(made).shapes.add_chart(kind, *BOX, data).chart
    chart.chart_title.text_frame.text = "The berths"
    made.save(str(path := tmp_path / "a.pptx"))
    assert texts(load_one(path)) == ["The berths", table]


def test_merged_cells_smartart_and_what_is_not_read(tmp_path: Path) -> None:
    """A merged cell counts wherever it stands, SmartArt is a list; hidden slides and unknown objects are counted."""
    made = pptx.Presentation()
    first = slide(made)
    table = first.shapes.add_table(4, 3, *BOX).table
    for at, text in enumerate(["Pier", "Fee", "", "", "Day", "Year", "East", "4", "90", "West", "free", ""]):
        table.cell(at // 3, at % 3).text = text
    for begin, end in (((0, 0), (1, 0)), ((0, 1), (0, 2)), ((3, 1), (3, 2))):
        table.cell(*begin).merge(table.cell(*end))
    second = slide(made)
    blob = f'<d:m xmlns:d="{DIAGRAM}" xmlns:a="a"><d:pt><d:t><a:p><a:r><a:t>Moor.</a:t></a:r></a:p></d:t></d:pt></d:m>'
    part = Part(PackURI("/ppt/diagrams/data1.xml"), "application/xml", made.part.package, blob.encode())
    link = second.part.relate_to(part, f"{RELATIONS}/diagramData")
    for inside in (f'<d:relIds xmlns:d="{DIAGRAM}" xmlns:r="{RELATIONS}" r:dm="{link}"/>', "<unknown/>"):
        frame = second.shapes.add_table(1, 1, *BOX)._element
        data = frame.find(".//{*}graphicData")
        data.set("uri", "of another object")
        data[:] = [etree.fromstring(inside)]
    slide(made)._element.set("show", "0")
    made.save(str(path := tmp_path / "a.pptx"))
    document = load_one(path)
    assert texts(document) == [
        "| Pier | Fee Day | Fee Year |\n| East | 4 | 90 |\n| West | free | free |",
        "- Moor.",
    ]
    assert document.notes == ("not read: 1 hidden slide, 1 chart or other object",)
