"""Read the horizontal rules of a PDF page, which part the rows of its tables."""

import ctypes
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pypdfium2.raw as pdfium

from app.ingest.loaders.pdf_lines import Cells, Columns
from app.ingest.loaders.pdf_words import extent

MAX_POINTS = 20_000  # points of a page's drawings that are looked at
LEVEL = 0.5  # largest difference of the ends of a horizontal rule, in points
SHORTEST = 5.0  # least length of a rule, in points
UNDER, OVER = 0.05, 0.5
"""Least distance of a rule from the baseline over it and from the one under it, in sizes of type."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal line, or an edge of a box or of a coloured area; positions like those of the page's words."""

    left: float
    right: float
    height: float


def page_rules(page: Any, quarter: int) -> list[Rule]:
    """Return the rules of a ``pypdfium2.PdfPage`` whose words are turned by ``quarter`` quarters."""
    found: list[Rule] = []
    points = 0
    for drawing in page.get_objects(filter=[pdfium.FPDF_PAGEOBJ_PATH], max_depth=1):
        points += pdfium.FPDFPath_CountSegments(drawing)
        if points > MAX_POINTS:
            break
        for one, other in _lines(drawing):
            sides = (min(one[0], other[0]), min(one[1], other[1]), max(one[0], other[0]), max(one[1], other[1]))
            left, bottom, right, top = extent(page, sides, quarter)
            if top - bottom < LEVEL and right - left > SHORTEST:
                found.append(Rule(left, right, bottom))
    return found


def _lines(drawing: Any) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    """Yield the ends of the straight lines of a path, but for the last edge of a box."""
    x, y, before = ctypes.c_float(), ctypes.c_float(), (0.0, 0.0)
    matrix = drawing.get_matrix()
    for number in range(pdfium.FPDFPath_CountSegments(drawing)):
        segment = pdfium.FPDFPath_GetPathSegment(drawing, number)
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = matrix.on_point(x.value, y.value)
        if pdfium.FPDFPathSegment_GetType(segment) == pdfium.FPDF_SEGMENT_LINETO:
            yield before, point
        before = point


def ends_row(above: Cells, below: Cells, columns: Columns, rules: Sequence[Rule]) -> bool:
    """Tell whether rules under a printed row part most columns from the next row."""
    highest = min(segment.base - UNDER * segment.size for cell in above for segment in cell)
    lowest = max(segment.base + OVER * segment.size for cell in below for segment in cell)
    between = [rule for rule in rules if lowest < rule.height < highest]
    parted = sum(any(rule.left < (left + right) / 2 < rule.right for rule in between) for left, right in columns)
    return 2 * parted > len(columns)
