"""Group the lines of a PDF page to paragraphs, items and headings, without page headers, feet and numbers."""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from answering.text.sentences import LABELLED
from app.ingest.loaders.pdf_lines import Segment, rows, text_of
from app.ingest.loaders.running_lines import EdgeLine, note_of, running_lines
from app.ingest.loaders.text_pages import ENDS

MAX_HEADING_CHARS = 150
SHORT, MIN_FULL = 0.6, 60
"""Part of a full line that a title set like the text has at most, and the characters of a full line at least."""
ITEM = re.compile(r"(?:[•‣◦▪●*–\ue000-\uf8ff-]|\(?\d{1,2}[.)]|\(?[a-z]\)|\([ivx]{2,4}\)|\[[x ]\])\s+\S")
"""How an item of a list begins."""
_NUMBER = re.compile(r"\(?(\d{1,2})[.)]\s")
FAR_APART, MOSTLY = 1.5, 0.7  # how often a gap that parts is a smaller one; share of the lines above it that end
LARGER = 1.1  # a line this many times the size of the text is a heading
SMALLER = 0.95  # a line at least this many times the size of the text is set like it
EDGE = 3  # rows at the top and at the bottom of a page that may be its header and its foot
Edge = list[list[tuple[EdgeLine, Segment]]]  # rows from the edge of a page inwards
MARGIN = 1 / 6  # part of a page's height that they lie in


class Line(NamedTuple):
    """One line of print: its text, its font size and its height on the page, in points."""

    text: str
    size: float
    height: float


def line_of(row: Sequence[Segment]) -> Line:
    """Return the line that a row of a page is, of the size of its longest segment."""
    longest = max(row, key=lambda segment: len(segment.text))
    return Line(text_of([word for segment in row for word in segment.words]), longest.size, longest.base)


def is_heading(line: Line, body: float) -> bool:
    """Tell whether a line is larger than the text, whose size is *body*, and short."""
    letters = sum(map(str.isalpha, line.text))
    return line.size >= LARGER * body > 0 and letters > 1 and len(line.text) <= MAX_HEADING_CHARS


def paragraphs(lines: Sequence[Line], body: float, *, opens_page: bool) -> list[list[Line]]:
    """Group lines that belong together: a paragraph, an item, or a heading of several lines.

    The first line, where they are the first of a page (*opens_page*), may be a title that is set like the text.
    """
    if opens_page and _begins_with_title(lines):
        return [[lines[0]], *paragraphs(lines[1:], body, opens_page=False)]
    usual = _line_distance([pair for pair in pairwise(lines) if pair[0].size == pair[1].size == body])
    groups: list[list[Line]] = []
    number = 0  # of the last item
    for line in lines:
        labelled = groups and LABELLED.match(groups[-1][0].text) and LABELLED.match(line.text)
        goes_on = groups and _continues(groups[-1][-1], line, usual, body)
        if goes_on and not labelled and not _is_item(line.text, number):
            groups[-1].append(line)
        else:
            groups.append([line])
            if numbered := _NUMBER.match(line.text):
                number = int(numbered[1])
    return groups


def _line_distance(pairs: Sequence[tuple[Line, Line]]) -> float:
    """Return the usual distance of two lines of a paragraph, 0 for none.

    It is the median one, unless that mostly follows a line that ends a sentence, or a short one, and others are far
    smaller: then it parts paragraphs, of which most are of one line.
    """
    gaps = [abs(upper.height - lower.height) for upper, lower in pairs]
    usual = median(gaps) if gaps else 0.0
    within = [gap for gap in gaps if gap * FAR_APART <= usual]
    full = max((len(upper.text) for upper, _ in pairs), default=0)
    apart = [upper for (upper, _), gap in zip(pairs, gaps, strict=True) if gap * FAR_APART > usual]
    ended = [line for line in apart if ENDS.search(line.text) or len(line.text) < SHORT * full]
    return median(within) if within and len(ended) >= MOSTLY * len(apart) else usual


def _continues(above: Line, line: Line, usual: float, body: float) -> bool:
    if is_heading(above, body) or is_heading(line, body):
        return is_heading(above, body) and above.size == line.size and abs(above.height - line.height) < 2 * line.size
    return usual == 0 or abs(above.height - line.height) <= 1.25 * usual


def _is_item(text: str, above: int) -> bool:
    """Tell whether a line begins an item of a list; the number of one follows that of the item *above*."""
    numbered = _NUMBER.match(text)
    return int(numbered[1]) in (1, above + 1) if numbered else bool(ITEM.match(text))


def _begins_with_title(lines: Sequence[Line]) -> bool:
    """Tell whether the first line is set like the text but is no part of it, as a letterhead or a page header is.

    It is short and ends no sentence; a full line with a capital letter follows.
    """
    if len(lines) < 3 or lines[0].size != lines[1].size or ENDS.search(lines[0].text):
        return False
    full = max(len(line.text) for line in lines)
    is_short = len(lines[0].text) < SHORT * full and full >= MIN_FULL
    return is_short and len(lines[1].text) > SHORT * full and lines[1].text[0].isupper()


def without_running_lines(
    pages: Sequence[Sequence[Segment]], heights: Sequence[float], body: float
) -> tuple[list[list[Segment]], list[str]]:
    """Drop page headers, page feet and page numbers; return what is left, and a note on what is not.

    Lines larger than the text are headings, and stay, and so does what lies inside of a line that stays.
    """
    edges = [edge for number, page in enumerate(pages) for edge in _edges(number, page, heights[number], body)]
    recurring = running_lines([line for edge in edges for row in edge for line, _ in row], len(pages))
    dropped: dict[int, str] = {}
    for edge in edges:
        for row in edge:
            dropped |= {id(segment): line.text for line, segment in row if line in recurring}
            if any(line not in recurring for line, _ in row):
                break
    kept = [[segment for segment in page if id(segment) not in dropped] for page in pages]
    return (kept, note_of(list(dropped.values()))) if any(kept) else (list(map(list, pages)), [])


def _edges(number: int, page: Sequence[Segment], height: float, body: float) -> Iterator[Edge]:
    """Yield the first and the last rows of a page, each from the edge inwards, without those in larger type."""
    printed = rows(page)
    for at_top, edge in (True, printed[:EDGE]), (False, printed[::-1][:EDGE]):
        found: Edge = []
        for at, row in enumerate(edge):
            if any(segment.size >= LARGER * body for segment in row):
                break
            found.append([])
            for segment in row:
                position = height - segment.base if at_top else segment.base
                of_text = segment.size >= SMALLER * body
                line = EdgeLine(number, at_top, at, position, segment.text, position <= MARGIN * height, of_text)
                found[-1].append((line, segment))
        yield found
