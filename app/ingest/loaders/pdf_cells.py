"""Put the lines of a table's cells together."""

from collections.abc import Callable, Sequence
from itertools import groupby, pairwise

from app.ingest.loaders.outline import grouped
from app.ingest.loaders.pdf_lines import Cells, Columns, Row, Segment, distances, text_of, wraps
from app.ingest.loaders.pdf_rules import Rule, ends_row

NEAR = 1.15  # largest distance of two lines of a cell, in that of the nearest lines of the table
CENTRED = 0.9  # distance, in sizes of type, below which two rows are nearer than lines: they are centred on each other

MIN_RULED = 2  # most sections between rules of a table whose header and foot alone have rules

Grid = Sequence[Cells]
Join = Callable[[str, str], str]  # joins two lines of one cell


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
            printed = text_of([word for segment in line for word in segment.words])
            text = join(text, printed) if text else printed
    return text
