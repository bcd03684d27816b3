"""Read the numbers that an Office file keeps of a chart, and the texts of a SmartArt graphic.

The elements are those of DrawingML (ECMA-376, part 1: 21.2 charts, 21.4 diagrams).
"""

from datetime import date, timedelta
from typing import Any

from app.ingest.loaders.cell_format import shown

_DAY_ZERO = date(1899, 12, 30)
"""Day 0 of the dates of a workbook."""


def chart_rows(chart: Any) -> tuple[str, list[list[str]]]:
    """Return the title of a chart, and a table of its categories and the values of each series; no rows for none."""
    series = list(chart.iter("{*}ser"))
    title = "".join(part.text or "" for part in chart.iterfind("{*}chart/{*}title//{*}t"))
    categories: dict[int, str] = {}
    columns: list[dict[int, str]] = []
    for one in series:
        categories = _points(one, "cat") | _points(one, "xVal") | categories
        columns.append(_points(one, "val") | _points(one, "yVal"))
    header = ["", *(one.findtext("{*}tx//{*}v") or "" for one in series)]
    places = sorted({place for column in columns for place in column})
    rows = [[categories.get(place, ""), *(column.get(place, "") for column in columns)] for place in places]
    return " ".join(title.split()), [header, *rows] if rows else []


def diagram_lines(data: Any) -> list[str]:
    """Return the paragraphs of a SmartArt graphic, in the order of its data."""
    lines = ("".join(part.text or "" for part in line.iter("{*}t")) for line in data.iterfind(".//{*}pt/{*}t/{*}p"))
    return [" ".join(line.split()) for line in lines if line.strip()]


def _points(series: Any, name: str) -> dict[int, str]:
    """Return number → text of the categories or values of a series; of categories in levels the innermost."""
    holder = series.find(f"{{*}}{name}")
    if holder is None:
        return {}
    level = holder.find(".//{*}lvl")
    code = holder.findtext(".//{*}formatCode") or "General"
    points = (holder if level is None else level).iterfind(".//{*}pt")
    return {
        int(point.get("idx")): _shown(
            point.findtext("{*}v") or "", code, is_number=holder.find("{*}numRef") is not None
        )
        for point in points
        if (point.get("idx") or "").isdecimal()
    }


def _shown(value: str, code: str, *, is_number: bool) -> str:
    """Return a value by its number format, a date as ISO 8601."""
    try:
        number = float(value) if is_number else None
    except ValueError:
        return value
    if number is None:
        return value
    if "yy" in code.lower() and 0 < number < 1_000_000:
        return (_DAY_ZERO + timedelta(days=int(number))).isoformat()
    return shown(number, code)
