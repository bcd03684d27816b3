"""Read the words of PDF pages with PDFium: text, position, size of type."""

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import atan2, hypot, pi
from typing import Any, NamedTuple

import pypdfium2.raw as pdfium

from app.ingest.loaders.pdf_right_to_left import is_right_to_left, read_word

Sides = tuple[float, float, float, float]  # left, bottom, right and top of a rectangle
SPACE = 0.2  # least gap that is a space, in sizes of type
TOUCHING = 0.13  # least gap that is one where PDFium supposes a space
_MARKED_HYPHENS = (0x2, 0xFFFE)  # what PDFium reports for a hyphen at the end of a line
RAISED, SMALLER = 0.15, 0.8
"""A sign raised by this part of its word's size, and at most this part of that size, is a superscript."""
_SUPERSCRIPTS = str.maketrans("0123456789+-−=()", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻⁼⁽⁾")
_LIGATURES = {0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st"}


@dataclass(slots=True)
class Word:
    """A word as printed: its horizontal extent, its baseline (upwards) and its size, all in points.

    ``drawn`` identifies the text object it is drawn by, which is one line or a part of one; ``number`` counts words in
    the order they are drawn.
    """

    text: str
    left: float
    right: float
    base: float
    size: float
    drawn: int
    number: int


@dataclass(slots=True)
class PageWords:
    """The words of one page in the order they are drawn; those of another reading direction are in ``turned``.

    Positions are those of the page turned clockwise by ``quarter`` quarters, so that ``words`` read from left to right.
    """

    width: float
    height: float
    quarter: int = 0
    words: list[Word] = field(default_factory=list)
    turned: list[Word] = field(default_factory=list)


class _Char(NamedTuple):
    text: str
    left: float
    right: float
    base: float
    size: float
    drawn: int
    quarter: int  # quarter turns of the reading direction
    after_space: bool  # PDFium supposes white space before it


def page_words(page: Any) -> PageWords:
    """Return the words of a ``pypdfium2.PdfPage``, turned so that most of them read from left to right."""
    left, bottom, right, top = page.get_bbox()  # a crop box that a page has from its parents too
    textpage = page.get_textpage()
    chars = list(_chars(textpage.raw, left, bottom, right, top))
    textpage.close()
    turns = [char.quarter for char in chars if char is not None]
    main = max(set(turns), key=turns.count) if turns else 0
    width, height = right - left, top - bottom
    found = PageWords(*((height, width) if main % 2 else (width, height)), main)
    word: Word | None = None
    spelled: list[tuple[Word, list[_Char]]] = []
    for number, char in enumerate(chars):
        if char is None:
            word = None
        elif word is not None and _adjacent(word, spelled[-1][1][-1], char):
            _add(word, char)
            spelled[-1][1].append(char)
        else:
            word = Word(char.text, char.left, char.right, char.base, char.size, char.drawn, number)
            spelled.append((word, [char]))
            (found.words if char.quarter == main else found.turned).append(word)
    for word, letters in spelled:
        if is_right_to_left(word.text):
            word.text = read_word((char.right, char.text) for char in letters)
    return found


def extent(page: Any, sides: Sides, quarter: int) -> Sides:
    """Return the left, bottom, right and top side of a rectangle on a page, turned like the words of the page."""
    left, bottom, right, top = page.get_bbox()
    inwards = (sides[0] - left, sides[1] - bottom, right - sides[2], top - sides[3])
    width, height = sides[2] - sides[0], sides[3] - sides[1]
    if quarter % 2:
        width, height = height, width
    across, up = inwards[quarter], inwards[(quarter + 1) % 4]
    return across, up, across + width, up + height


def _add(word: Word, char: _Char) -> None:
    """Add a character; what is raised stays apart from the number it stands at: 320¹, and no 3201."""
    if _is_superscript(char, word):
        word.text += char.text.translate(_SUPERSCRIPTS)
    elif _is_superscript(word, char):
        word.text = word.text.translate(_SUPERSCRIPTS) + char.text
    else:
        word.text += char.text
    word.left, word.right = min(word.left, char.left), max(word.right, char.right)
    if char.size > word.size:
        word.size, word.base = char.size, char.base


def _is_superscript(raised: Word | _Char, beside: Word | _Char) -> bool:
    return raised.size <= SMALLER * beside.size and raised.base - beside.base >= RAISED * beside.size


def _adjacent(word: Word, before: _Char, char: _Char) -> bool:
    """Tell whether *char* continues the *word* of *before*: beside it, raised or lowered a little at most."""
    size = max(before.size, char.size)
    beside = word if is_right_to_left(word.text + char.text) else before
    apart = max(char.left - beside.right, beside.left - char.right)
    limit = TOUCHING if char.after_space else SPACE
    return before.quarter == char.quarter and apart < limit * size and abs(char.base - before.base) < 0.6 * size


def _chars(textpage: Any, left: float, bottom: float, right: float, top: float) -> Iterator[_Char | None]:
    """Yield the characters of a page, None for white space, each as if turned to read from left to right.

    The page's box has the corners *left*, *bottom* and *right*, *top*; positions count from its lower left corner.
    """
    x, y, box, matrix = ctypes.c_double(), ctypes.c_double(), pdfium.FS_RECTF(), pdfium.FS_MATRIX()
    supposed = False
    for number in range(pdfium.FPDFText_CountChars(textpage)):
        if pdfium.FPDFText_IsGenerated(textpage, number) == 1:
            supposed = True
            continue
        code = pdfium.FPDFText_GetUnicode(textpage, number)
        text = "-" if code in _MARKED_HYPHENS else _LIGATURES.get(code) or chr(code)
        if text.isspace() or (code < 32 and text != "-"):
            yield None
            continue
        pdfium.FPDFText_GetCharOrigin(textpage, number, x, y)
        pdfium.FPDFText_GetLooseCharBox(textpage, number, box)
        pdfium.FPDFText_GetMatrix(textpage, number, matrix)
        size = pdfium.FPDFText_GetFontSize(textpage, number) * hypot(matrix.c, matrix.d)
        quarter = round(atan2(matrix.b, matrix.a) / (pi / 2)) % 4
        begin, end, base = {
            0: (box.left - left, box.right - left, y.value - bottom),
            1: (box.bottom - bottom, box.top - bottom, right - x.value),
            2: (right - box.right, right - box.left, top - y.value),
            3: (top - box.top, top - box.bottom, x.value - left),
        }[quarter]
        drawn = ctypes.cast(pdfium.FPDFText_GetTextObject(textpage, number), ctypes.c_void_p).value or 0
        yield _Char(text, begin, end, base, round(size, 1), drawn, quarter, supposed)
        supposed = False
