"""Group the words of a PDF page to segments and rows."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from math import inf

from app.ingest.loaders.outline import grouped
from app.ingest.loaders.pdf_right_to_left import is_right_to_left, read_line
from app.ingest.loaders.pdf_words import Word

SAME_ROW = 0.35  # largest difference of baselines within one row, in sizes of type
Columns = Sequence[tuple[float, float]]  # the horizontal extents of a table's columns
_SPACE = 0.25  # width of a space in sizes of type


@dataclass(slots=True)
class Segment:
    """Adjacent words of one row, without a gap between them; positions in points, ``base`` upwards."""

    words: list[Word]
    left: float = field(init=False)
    right: float = field(init=False)
    base: float = field(init=False)
    size: float = field(init=False)

    def __post_init__(self) -> None:
        largest = max(self.words, key=lambda word: (word.size, len(word.text)))
        self.left, self.right = min(word.left for word in self.words), max(word.right for word in self.words)
        self.base, self.size = largest.base, largest.size

    @property
    def text(self) -> str:
        """The words, with spaces between them."""
        return text_of(self.words)


Row = list[Segment]
Cells = list[list[Segment]]  # a printed row by columns: none, one or more segments in each


def text_of(words: Sequence[Word]) -> str:
    """Return the words of a line with spaces between them, as they are read."""
    joined = " ".join(word.text for word in words)
    if is_right_to_left(joined):
        joined = read_line([(word.right, word.text) for word in words])
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def columns_apart(words: Sequence[Word]) -> list[Segment]:
    """Return the words of a page in segments that white space parts as wide as between columns of text."""
    gaps: dict[int, float] = {}
    for before, word in pairwise(words):
        if before.drawn == word.drawn and _same_row(before, word):
            gaps[word.drawn] = min(gaps.get(word.drawn, inf), _apart(before, word) / word.size)

    def is_gap(before: Word, word: Word, gap: float) -> bool:
        if before.drawn != word.drawn:
            return gap >= 0.9
        return gap >= max(1.5, 1.3 * gaps.get(word.drawn, 0.0))  # a justified line has equal gaps, however wide

    return _segments(words, is_gap)


def cells_apart(words: Sequence[Word]) -> list[Segment]:
    """Return words in segments that white space parts as wide as between cells, which are mostly drawn one by one."""
    return _segments(words, lambda before, word, gap: gap >= (0.9 if before.drawn == word.drawn else 0.35))


def _segments(words: Sequence[Word], is_gap: Callable[[Word, Word, float], bool]) -> list[Segment]:
    """Return words in segments, from top to bottom, each row from left to right.

    ``is_gap`` gets two neighbours of a row and the space between them in sizes of type.
    """

    def parted(before: Word, word: Word) -> bool:
        return is_gap(before, word, _apart(before, word) / max(before.size, word.size))

    runs: list[list[Word]] = []
    for word in words:
        if runs and _same_row(runs[-1][-1], word) and not parted(runs[-1][-1], word):
            if not _is_copy(runs[-1][-1], word):
                runs[-1].append(word)
        else:
            runs.append([word])
    found: list[Segment] = []
    for row in rows(map(Segment, runs)):
        held = [row[0]]
        for segment in row[1:]:
            if parted(held[-1].words[-1], segment.words[0]):
                held.append(segment)
            elif not _is_copy(held[-1].words[-1], segment.words[-1]):
                held[-1] = Segment(held[-1].words + segment.words)
        found += held
    return found


def _is_copy(one: Word, other: Word) -> bool:
    """Tell whether a word is printed twice, to look bold."""
    return one.text == other.text and abs(one.left - other.left) < 0.1 * one.size


def rows(found: Iterable[Segment]) -> list[list[Segment]]:
    """Return segments by rows, from top to bottom, each from left to right."""
    by_height = sorted(found, key=lambda segment: -segment.base)
    unordered = grouped(by_height, lambda row, segment: _same_row(row[0], segment))
    return [sorted(row, key=lambda segment: segment.left) for row in unordered]


def wraps(above: Segment, below: Segment, right: float) -> bool:
    """Tell whether *below* may continue *above*: its first word did not fit before *right*."""
    first = below.words[0]
    if re.search(r"[-\u2010\u00ad]$", above.text):
        return True
    if len(above.words) == 1 and re.search(r"\d", above.text) and not first.text[0].islower():
        return False  # numbers are all of one width; "months" may go on with one
    return above.right + first.right - first.left + _SPACE * above.size > right - 0.1 * above.size


def distances(found: Sequence[Sequence[Segment]]) -> list[float]:
    """Return the distances of neighbouring rows' baselines, in points."""
    return [above[0].base - below[0].base for above, below in pairwise(found)]


def _same_row(one: Word | Segment, other: Word | Segment) -> bool:
    return abs(one.base - other.base) <= SAME_ROW * max(one.size, other.size)


def _apart(one: Word, other: Word) -> float:
    return max(other.left - one.right, one.left - other.right)
