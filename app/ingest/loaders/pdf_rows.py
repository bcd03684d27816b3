"""Put the printed rows of a PDF's table together to its rows, by the rules between them and white space."""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from itertools import groupby, pairwise
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from app.ingest.loaders.outline import grouped
from app.ingest.loaders.pdf_lines import Cells, Columns, Row, Segment, distances, text_of, wraps
from app.ingest.loaders.pdf_words import extent

MAX_POINTS = 20_000  # points of a page's drawings that are looked at
LEVEL = 0.5  # largest difference of the ends of a horizontal rule, in points
SHORTEST = 5.0  # least length of a rule, in points
UNDER, OVER = 0.05, 0.5
"""Least distance of a rule from the baseline over it and from the one under it, in sizes of type."""
NEAR = 1.15  # largest distance of two lines of a cell, in that of the nearest lines of the table
CENTRED = 0.9  # distance, in sizes of type, below which two rows are nearer than lines: they are centred on each other
MIN_RULED = 2  # most sections between rules of a table whose header and foot alone have rules
Grid = Sequence[Cells]
Join = Callable[[str, str], str]  # joins two lines of one cell


class Rule(NamedTuple):
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


def logical_rows(grid: Grid, columns: Columns, rules: Sequence[Rule]) -> list[list[Cells]]:
    """Group printed rows to the rows of the table: the lines of a cell belong together, and rules end a row.

    Between two rules of three or more is one row, if its cells may be of several lines.
    """
    printed = [[segment for cell in row for segment in cell] for row in grid]
    sections = grouped(grid, lambda section, row: not ends_row(section[-1], row, columns, rules))
    tight, spaced = _distances(grid, printed)
    groups: list[list[Cells]] = []
    for section in sections:
        is_row = len(sections) > MIN_RULED and _may_be_one(section, columns)
        groups += [section] if is_row else _parted(section, grid, columns, NEAR * tight, spaced=spaced)
    return groups


def _distances(grid: Grid, printed: Sequence[Row]) -> tuple[float, bool]:
    """Return the least distance of two lines of a column, and whether there is more white space between rows."""
    columns = ([row[at][0] for row in grid if row[at]] for at in range(len(grid[0])))
    tight = min((above.base - below.base for column in columns for above, below in pairwise(column)), default=0.0)
    begun = [at for at, row in enumerate(grid) if row[0]]
    below_header = printed[begun[1] :] if len(begun) > 2 else printed  # which may have several lines
    return tight, max(distances(below_header), default=0.0) > NEAR * tight


def _may_be_one(section: Grid, columns: Columns) -> bool:
    """Tell whether the printed rows of a section may be the lines of one row, in each of its columns."""
    cells = [([row[at][-1] for row in section if row[at]], right) for at, (_, right) in enumerate(columns)]
    return all(wraps(above, below, right) for lines, right in cells for above, below in pairwise(lines))


def _parted(section: Grid, grid: Grid, columns: Columns, farthest: float, *, spaced: bool) -> list[list[Cells]]:
    """Return the rows of a section without rules, by the white space between them and the words in them."""

    def goes_on(group: Grid, row: Cells) -> bool:
        first = [cells[0][0] for cells in (*group, row) if cells[0]][-2:]
        begins = row[0] and len(first) == 2 and not spaced and not _drawn_together(first[0], first[1], grid)
        return not begins and _continues_row(group, row, columns, farthest)

    return grouped(section, goes_on)


def _drawn_together(above: Segment, below: Segment, grid: Grid) -> bool:
    """Tell whether nothing else of the table is drawn between two lines of its first column, but is elsewhere."""
    if len(above.words) == 1 and not below.words[0].text[0].islower():  # names in rows that are empty otherwise
        return False
    numbers = sorted((segment.words[0].number, at) for row in grid for at, cell in enumerate(row) for segment in cell)
    turns = [at for at, _ in groupby(at for _, at in numbers)]
    between = (at for number, at in numbers if above.words[0].number < number < below.words[0].number)
    return turns.count(0) > 1 and not any(between)


def _continues_row(group: Grid, row: Cells, columns: Columns, farthest: float) -> bool:
    """Tell whether every cell of a printed row continues the cell above, or is centred on a cell of several lines."""
    filled = [(at, cell[0]) for at, cell in enumerate(row) if cell]
    above = {at: upper[at][-1] for upper in group for at, _ in filled if upper[at]}
    pairs = [(above[at], segment, columns[at][1]) for at, segment in filled if at in above]
    if any(upper.base - lower.base > farthest or not wraps(upper, lower, right) for upper, lower, right in pairs):
        return False
    lowest = min(segment.base for cell in group[-1] for segment in cell)
    return bool(above) or lowest - filled[0][1].base < CENTRED * filled[0][1].size


def cell_text(lines: Sequence[Sequence[Segment]], join: Join) -> str:
    """Return the lines of a cell as one."""
    printed = [text_of([word for segment in line for word in segment.words]) for line in lines if line]
    return reduce(join, printed) if printed else ""
