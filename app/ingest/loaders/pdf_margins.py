"""Leave out the page headers, page feet and page numbers of a PDF."""

from collections.abc import Iterator, Sequence

from app.ingest.loaders.pdf_lines import Segment, rows
from app.ingest.loaders.running_lines import EdgeLine, note_of, running_lines

LARGER = 1.1
"""A line this many times the size of the text is a heading."""
SMALLER = 0.95
"""A line at least this many times the size of the text is set like it."""
EDGE = 3
"""Rows at the top and at the bottom of a page that may be its header and its foot."""
MARGIN = 1 / 6
"""Part of a page's height that they lie in."""


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
    return (kept, list(note_of(list(dropped.values())))) if any(kept) else (list(map(list, pages)), [])


def _edges(
    number: int, page: Sequence[Segment], height: float, body: float
) -> Iterator[list[list[tuple[EdgeLine, Segment]]]]:
    """Yield the first and the last rows of a page, each from the edge inwards, without those in larger type."""
    printed = rows(page)
    for at_top, edge in (True, printed[:EDGE]), (False, printed[::-1][:EDGE]):
        found: list[list[tuple[EdgeLine, Segment]]] = []
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
