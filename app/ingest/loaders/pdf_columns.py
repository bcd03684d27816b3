"""Find the columns of a PDF page, by the white space between them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby, pairwise
from operator import itemgetter
from statistics import median

from app.ingest.loaders.pdf_lines import Segment, distances, rows, wraps

STRIP = 0.9  # least width of the white strip between columns, in sizes of type
LARGER = 1.1  # size of a heading, in sizes of type
MIN_ROWS = 3  # fewest rows of a column
FULL_ROWS = 0.6  # share of full rows of running text
MIN_CONTINUED = 2  # fewest rows that go on with a sentence, of text that is no table
MIN_WIDE_ROWS = 2  # fewest wide rows of a column of short sections
MIN_WIDTH = 8  # least usual width of a column's rows, in sizes of type
Rows = list[list[Segment]]


def reading_order(found: Sequence[Segment]) -> list[list[Segment]]:
    """Return the segments of a page in regions, in reading order: a column ends before the next one begins.

    Columns of running text are parted; those of a table are not.
    """
    split = max(_splits(found), key=lambda parts: len(parts[1]) + len(parts[2]), default=None)
    if split is None:
        return [list(found)] if found else []
    return [region for part in split for region in reading_order(part)]


def _splits(found: Sequence[Segment]) -> Iterator[tuple[list[Segment], ...]]:
    """Yield what is above, left of, right of and below each white strip between two columns."""
    if len(found) < 2 * MIN_ROWS:
        return
    size = median(segment.size for segment in found)
    starts = Counter(round(segment.left) for segment in found)
    ordered = sorted(found, key=lambda segment: -segment.base)
    bands = _bands(ordered, size)
    for start in sorted(edge for edge, count in starts.items() if count >= MIN_ROWS - 1)[1:]:
        begin, end = start - STRIP * size, start - 1
        crossing = [at for at, part in enumerate(ordered) if at in bands or (part.left < end and part.right > begin)]
        for before, after in pairwise([-1, *crossing, len(ordered)]):
            between = ordered[before + 1 : after]
            left = [segment for segment in between if segment.right <= begin]
            right = [segment for segment in between if segment.left >= end]
            above, right = _apart_above(left, right)
            left, below = _apart_below(left, right)
            if _are_columns(rows(left), rows(right)):
                yield [*ordered[: before + 1], *above], left, right, [*below, *ordered[after:]]


def _bands(ordered: Sequence[Segment], size: float) -> set[int]:
    """Return the numbers of the headings that are of no column: all above is drawn before, all below after them."""
    numbers = [part.words[0].number for part in ordered]
    before = [-1, *accumulate(numbers, max)]
    after = [*accumulate(reversed(numbers), min)][::-1]
    after.append(max(numbers, default=0) + 1)
    larger = [at for at, part in enumerate(ordered) if part.size > LARGER * size]
    return {at for at in larger if before[at] < numbers[at] < after[at + 1]}


def _apart_above(left: Sequence[Segment], right: Sequence[Segment]) -> tuple[list[Segment], list[Segment]]:
    """Part what stands above the column on the right, such as a date, from that column."""
    block = rows(right)
    for at, apart in enumerate(distances(block), 1):
        above, below = block[at - 1][0], block[at][0]
        heads = above.size > below.size  # a heading is part of its column
        if left and not heads and above.base > left[0].base and apart > 1.8 * min(distances(block)):
            return [segment for row in block[:at] for segment in row], [part for row in block[at:] for part in row]
    return [], list(right)


def _apart_below(left: Sequence[Segment], right: Sequence[Segment]) -> tuple[list[Segment], list[Segment]]:
    """Part what stands apart below both columns, such as a note, from the left one: it is drawn after them."""
    block = rows(left)
    gaps = distances(block)
    nearest = min(gaps, default=0.0)
    lowest = min((part.base for part in right), default=0.0)
    last = max((part.words[-1].number for part in right), default=0)
    for at, gap in enumerate(gaps, 1):
        if gap > 1.4 * nearest and block[at][0].base < lowest:
            below = [part for row in block[at:] for part in row]
            drawn_last = all(part.words[0].number > last for part in below)
            return ([part for row in block[:at] for part in row], below) if drawn_last else (list(left), [])
    return list(left), []


def _are_columns(left: Rows, right: Rows) -> bool:
    """Tell whether two blocks side by side are columns of text, and no columns of a table."""
    if min(len(left), len(right)) < MIN_ROWS:
        return False
    last = max(part.words[-1].number for row in left for part in row)
    ragged = last < min(part.words[0].number for row in right for part in row)  # drawn apart, as no rows of a table are
    wide = [_is_wide(block, ragged=ragged) for block in (left, right)]
    if not (any(wide) if ragged else all(wide)):
        return False
    overlap = min(left[0][0].base, right[0][0].base) - max(left[-1][0].base, right[-1][0].base)
    if overlap < 0.5 * min(left[0][0].base - left[-1][0].base, right[0][0].base - right[-1][0].base):
        return False
    beside = [row[-1:] for row in left], [row[:1] for row in right]  # of several columns those beside the white strip
    full = all(_is_wide(block) and _fills(block) >= FULL_ROWS for block in beside)
    if _drawn_by_cells(left, right) and not full:
        return False
    shorter, longer = sorted((left, right), key=len)
    bases = [row[0].base for row in longer]
    aligned = sum(any(abs(row[0].base - base) < 0.2 * row[0].size for base in bases) for row in shorter)
    if aligned < 0.8 * len(shorter):
        return True
    goes_on = ragged and max(_continued(left), _continued(right)) >= MIN_CONTINUED  # text, maybe beside a list
    return (full or (_flows(left) and _flows(right)) or goes_on) and not _have_rows(left, right)


def _drawn_by_cells(left: Rows, right: Rows) -> bool:
    """Tell whether two blocks are drawn in turns, several lines at a time, each turn below the one before."""
    blocks = enumerate((left, right))
    lines = [(part.words[0].number, side, part.base) for side, block in blocks for row in block for part in row]
    turns = [[base for *_, base in turn] for _, turn in groupby(sorted(lines), key=itemgetter(1))]
    below = all(max(later) < min(earlier) for earlier, later in zip(turns, turns[2:], strict=False))
    return len(turns) > 2 and below and 2 * len(lines) >= 3 * len(turns)


def _is_wide(block: Rows, *, ragged: bool = False) -> bool:
    """Tell whether most rows are wide and near the longest; of a *ragged* block, short sections with headings, two."""
    widths = [row[-1].right - row[0].left for row in block]
    least = MIN_WIDTH * median(row[0].size for row in block)
    letters = [char.isalpha() for row in block for segment in row for word in segment.words for char in word.text]
    if ragged:
        wide = sum(width >= least for width in widths) >= MIN_WIDE_ROWS
    else:
        wide = median(widths) >= least and 2 * sum(width >= 0.6 * max(widths) for width in widths) >= len(widths)
    return wide and sum(letters) >= 0.6 * len(letters)


def _flows(block: Rows) -> bool:
    """Tell whether most rows continue the one above: a full line that ends no sentence, or a small letter follows."""
    small = sum(below[0].words[0].text[0].islower() for below in block[1:])
    return _fills(block) >= FULL_ROWS or small >= 0.4 * (len(block) - 1)


def _continued(block: Rows) -> int:
    """Count the rows that go on with the sentence above them: in a small letter, below one that ends none."""
    pairs = pairwise(block)
    return sum(below[0].text[0].islower() and above[-1].text[-1] not in ".!?:" for above, below in pairs)


def _fills(block: Rows) -> float:
    """Return the share of rows that are full and end no sentence."""
    right = max(row[-1].right for row in block)
    full = (above[-1].text[-1] not in ".!?" and wraps(above[-1], below[0], right) for above, below in pairwise(block))
    return sum(full) / (len(block) - 1)


def _have_rows(left: Rows, right: Rows) -> bool:
    """Tell whether white space divides both blocks at the same heights, twice at least, as the rows of a table."""
    gaps, others = _gaps(left), _gaps(right)
    shared = sum(any(abs(base - other) < 2 for other in others) for base in gaps)
    return shared >= 2 and shared >= 0.7 * min(len(gaps), len(others))


def _gaps(block: Rows) -> list[float]:
    """Return the baselines below wider gaps."""
    apart = distances(block)
    return [below[0].base for below, gap in zip(block[1:], apart, strict=True) if gap > 1.2 * min(apart)]
