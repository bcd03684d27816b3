"""Put the lines of a table's cells together."""

from collections.abc import Callable, Sequence
from itertools import chain, groupby, pairwise

from app.ingest.loaders.pdf_lines import Segment, wraps

NEAR = 1.15
"""Largest distance of two lines of a cell, in that of the nearest lines of the table."""
CENTRED = 0.9
"""Distance, in sizes of type, below which two rows are nearer than lines: they are centred on each other."""

Row = list[Segment]
Cells = list[list[Segment]]
"""A printed row by columns: none, one or more segments in each."""
Join = Callable[[str, str], str]
"""Joins two lines of one cell."""


def logical_rows(grid: Sequence[Cells], columns: Sequence[tuple[float, float]]) -> list[list[Cells]]:
    """Group printed rows to the rows of the table: the lines of a cell belong together."""
    apart = [
        [above.base - below.base for above, below in pairwise([segment for row in grid for segment in row[at][:1]])]
        for at in range(len(columns))
    ]
    tight = min(chain.from_iterable(apart), default=0.0)
    below_header = apart[0][1:] or apart[0]  # which may have several lines where the first column has one
    spaced = max(below_header, default=0.0) > NEAR * tight
    groups: list[list[Cells]] = [[grid[0]]]
    for row in grid[1:]:
        first = [cells[0][0] for cells in (*groups[-1], row) if cells[0]][-2:]
        begins = row[0] and len(first) == 2 and not spaced and not _drawn_together(first[0], first[1], grid)
        if not begins and _continues_row(groups[-1], row, columns, NEAR * tight):
            groups[-1].append(row)
        else:
            groups.append([row])
    return groups


def _drawn_together(above: Segment, below: Segment, grid: Sequence[Cells]) -> bool:
    """Tell whether nothing else of the table is drawn between two lines of its first column, but is elsewhere."""
    if len(above.words) == 1 and not below.words[0].text[0].islower():  # names in rows that are empty otherwise
        return False
    numbers = sorted((segment.words[0].number, at) for row in grid for at, cell in enumerate(row) for segment in cell)
    turns = [at for at, _ in groupby(at for _, at in numbers)]
    between = (at for number, at in numbers if above.words[0].number < number < below.words[0].number)
    return turns.count(0) > 1 and not any(between)


def _continues_row(group: Sequence[Cells], row: Cells, columns: Sequence[tuple[float, float]], farthest: float) -> bool:
    """Tell whether every cell of a printed row continues the cell above, or is centred on a cell of several lines."""
    filled = [(at, cell[0]) for at, cell in enumerate(row) if cell]
    above = {at: upper[at][-1] for upper in group for at, _ in filled if upper[at]}
    if not all(
        above[at].base - segment.base <= farthest and wraps(above[at], segment, columns[at][1])
        for at, segment in filled
        if at in above
    ):
        return False
    lowest = min(segment.base for cell in group[-1] for segment in cell)
    return bool(above) or lowest - filled[0][1].base < CENTRED * filled[0][1].size


def cell_text(lines: Sequence[Sequence[Segment]], join: Join) -> str:
    """Return the lines of a cell as one."""
    text = ""
    for line in lines:
        if line:
            printed = " ".join(segment.text for segment in line)
            text = join(text, printed) if text else printed
    return text
