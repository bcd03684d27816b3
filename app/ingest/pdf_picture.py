"""Draw a page of a PDF with a quote marked on it."""

import sys
import unicodedata
from collections.abc import Iterator, Sequence
from io import BytesIO
from itertools import groupby
from pathlib import Path
from typing import Any

import orjson
import pypdfium2

from app.ingest.loaders.pdf_columns import reading_order
from app.ingest.loaders.pdf_forms import add_fields, read_forms
from app.ingest.loaders.pdf_lines import columns_apart, rows
from app.ingest.loaders.pdf_words import PageWords, page_words
from app.ingest.reading import PagePicture, limit_memory

DPI = 110
MAX_PIXELS = 4_000_000
"""Largest picture; a larger page is drawn with fewer dots per inch."""
MAX_PAGES_AFTER = 3
"""Pages after the one on which a passage begins that are searched for a quote of it."""
PAPER = (255, 222, 110)
"""Colour that white paper has where the quote stands; what is printed shows through."""
ABOVE, BELOW = 0.9, 0.28
"""Height of a mark over and under the baseline, in sizes of type."""
MIN_LONG_PIECE = 12
"""Letters below which a piece of a quote is found only as whole words: "5" is not in "15"."""


def draw_page(path: Path, page: int, quote: str) -> PagePicture:
    """Draw the page on which *quote* is printed, from the 1-based *page* on; else that page without a mark.

    Turned text is turned upright. Raises ``PdfiumError`` for a file that is not a PDF or lacks the page.
    """
    with pypdfium2.PdfDocument(path) as document:
        read_forms(document)
        numbers = range(page, min(page + MAX_PAGES_AFTER, len(document)) + 1)
        read = ((number, _words(document[number - 1])) for number in numbers)
        found = ((number, words, boxes) for number, words in read if (boxes := quote_boxes(words, quote)))
        number, words, boxes = next(found, (page, None, []))
        return PagePicture(_drawn(document[number - 1], words, boxes), number, len(boxes))


def _words(page: Any) -> PageWords:
    found = page_words(page)
    add_fields(page, found)
    return found


Box = tuple[float, float, float, float]
"""Left, top, right and bottom in points, from the upper left corner of the page as it reads upright."""


def quote_boxes(page: PageWords, quote: str) -> list[Box]:
    """Return the boxes in which *quote* is printed on a page, one for each piece of a line; none where it is not.

    Only letters and digits count, since reading joins hyphenated words. Of a table's row the longest cell is found at
    its first place, the others nearest to it, on their side of it.
    """
    regions = reading_order(columns_apart(page.words))
    words = [word for region in regions for row in rows(region) for segment in row for word in segment.words]
    letters = [_letters(word.text) for word in words]
    starts = [0]
    for word in letters:
        starts.append(starts[-1] + len(word))
    text = "".join(letters)
    pieces = [piece for cell in quote.replace("\n", "|").split("|") if (piece := _letters(cell))]
    longest = max(range(len(pieces)), key=lambda n: len(pieces[n]), default=-1)
    anchor = next(_places(text, pieces[longest], starts), None) if pieces else None
    if anchor is None:
        return []
    marked: set[int] = set()
    for number, piece in enumerate(pieces):
        side = (number > longest) - (number < longest)
        places = _places(text, piece, starts)
        place = min(places, key=lambda at: (side * (at - anchor) < 0, abs(at - anchor)), default=None)
        if place is not None:
            marked.update(n for n in range(len(words)) if starts[n + 1] > place and starts[n] < place + len(piece))
    runs = groupby(enumerate(sorted(marked)), key=lambda pair: pair[1] - pair[0])
    lines = [line for _, run in runs for line in columns_apart([words[n] for _, n in run])]
    return [
        (
            line.left,
            page.height - line.base - ABOVE * line.size,
            line.right,
            page.height - line.base + BELOW * line.size,
        )
        for line in lines
    ]


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, unicodedata.normalize("NFKC", text).casefold()))


def _places(text: str, piece: str, starts: Sequence[int]) -> Iterator[int]:
    """Yield where *piece* stands in *text*; a short one from the beginning of a word to the end of one."""
    bounds, place = set(starts), text.find(piece)
    while piece and place >= 0:
        if len(piece) >= MIN_LONG_PIECE or {place, place + len(piece)} <= bounds:
            yield place
        place = text.find(piece, place + 1)


def _drawn(page: Any, words: PageWords | None, boxes: Sequence[Box]) -> bytes:
    turned = (90 * words.quarter - page.get_rotation()) % 360 if words else 0
    width, height = page.get_size()
    scale = min(DPI / 72, (MAX_PIXELS / max(width * height, 1.0)) ** 0.5)
    picture = page.render(scale=scale, rotation=turned).to_pil().convert("RGB")
    for box in boxes:
        area = tuple(round(scale * edge) for edge in box)
        part = picture.crop(area)
        picture.paste(part.point([level * paper // 255 for paper in PAPER for level in range(256)]), area)
    written = BytesIO()
    picture.save(written, "PNG")
    return written.getvalue()


def main() -> None:
    """Draw the page that standard input names; the program of a process of ``PagePictures``."""
    limit_memory()
    request = orjson.loads(sys.stdin.buffer.read())
    picture = draw_page(Path(request["path"]), request["page"], request["quote"])
    sys.stdout.buffer.write(b"%d %d %d\n%s" % (picture.page, picture.marks, len(picture.png), picture.png))
