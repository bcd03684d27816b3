"""Read what is filled in in the forms of a PDF, and the text boxes on its pages, as words of the page."""

import ctypes
import logging
import re
from collections.abc import Callable, Iterator, Sequence
from statistics import mode
from textwrap import wrap
from typing import Any

import pypdfium2
import pypdfium2.raw as pdfium

from app.ingest.loaders.pdf_words import PageWords, Sides, Word, extent

XFA = "the fields of an XFA form are not read: a program would have to draw them"
_BOXES = (pdfium.FPDF_FORMFIELD_CHECKBOX, pdfium.FPDF_FORMFIELD_RADIOBUTTON)
_LISTS = (pdfium.FPDF_FORMFIELD_COMBOBOX, pdfium.FPDF_FORMFIELD_LISTBOX)
_HIDDEN = pdfium.FPDF_ANNOT_FLAG_INVISIBLE | pdfium.FPDF_ANNOT_FLAG_HIDDEN | pdfium.FPDF_ANNOT_FLAG_NOVIEW
_PASSWORD = 1 << 13  # the flag of a field that shows no letters (ISO 32000-1, table 228)
SIZE = 10.0  # size of type on a page without other words, in points
WIDTH, HEIGHT = 0.5, 1.2
"""Width of a letter, and of a line's height, in sizes of type."""
MIDDLE = 0.35  # height of the middle of a letter over its baseline, in sizes of type

logging.getLogger("pypdfium2").setLevel(logging.ERROR)  # it warns of XFA forms that can be read as well


def read_forms(document: Any) -> list[str]:
    """Let PDFium read the forms of a ``pypdfium2.PdfDocument``; return a note where it cannot."""
    try:
        document.init_forms()
    except pypdfium2.PdfiumError:
        return ["the fields of a form are not read: it is damaged"]
    return [XFA] if document.get_formtype() == pdfium.FORMTYPE_XFA_FULL else []


def add_fields(page: Any, found: PageWords) -> None:
    """Add to the words of a ``pypdfium2.PdfPage`` those of its form fields and text boxes, each at its place."""
    size = mode(word.size for word in found.words) if found.words else SIZE
    for number in range(pdfium.FPDFPage_GetAnnotCount(page)):
        annotation = pdfium.FPDFPage_GetAnnot(page, number)
        if annotation and not pdfium.FPDFAnnot_GetFlags(annotation) & _HIDDEN and (text := _text(page, annotation)):
            box = pdfium.FS_RECTF()
            pdfium.FPDFAnnot_GetRect(annotation, box)
            place = extent(page, (box.left, box.bottom, box.right, box.top), found.quarter)
            found.words += list(_placed(text, place, size, found.words, -1 - number))
        pdfium.FPDFPage_CloseAnnot(annotation)


def _text(page: Any, annotation: Any) -> str:
    """Return what a field or a text box shows; "" for other annotations."""
    kind = pdfium.FPDFAnnot_GetSubtype(annotation)
    if kind == pdfium.FPDF_ANNOT_FREETEXT:
        return _string(lambda *space: pdfium.FPDFAnnot_GetStringValue(annotation, b"Contents", *space))
    if kind != pdfium.FPDF_ANNOT_WIDGET or not page.formenv:
        return ""
    field = (page.formenv, annotation)
    kind = pdfium.FPDFAnnot_GetFormFieldType(*field)
    if kind in _BOXES:
        return "[x]" if pdfium.FPDFAnnot_IsChecked(*field) else "[ ]"
    if kind in _LISTS:
        options = range(max(pdfium.FPDFAnnot_GetOptionCount(*field), 0))
        chosen = [option for option in options if pdfium.FPDFAnnot_IsOptionSelected(*field, option)]
        labels = (_string(lambda *space, at=at: pdfium.FPDFAnnot_GetOptionLabel(*field, at, *space)) for at in chosen)
        if chosen:
            return ", ".join(labels)
    elif kind != pdfium.FPDF_FORMFIELD_TEXTFIELD or pdfium.FPDFAnnot_GetFormFieldFlags(*field) & _PASSWORD:
        return ""
    return _string(lambda *space: pdfium.FPDFAnnot_GetFormFieldValue(*field, *space))


def _string(read: Callable[[Any, int], int]) -> str:
    """Return what *read* writes in UTF-16 to a buffer of so many bytes; it returns how many it needs."""
    length = read(None, 0)
    buffer = ctypes.create_string_buffer(length)
    read(ctypes.cast(buffer, ctypes.POINTER(pdfium.FPDF_WCHAR)), length)
    return buffer.raw.decode("utf-16-le", "replace").rstrip("\0")


def _placed(text: str, place: Sides, size: float, words: Sequence[Word], drawn: int) -> Iterator[Word]:
    """Yield the words of a field: one line stands level with the words beside it, several stand below each other."""
    left, bottom, right, top = place
    fitting = max(int((right - left) / (WIDTH * size)), 1)
    several = top - bottom > 2 * HEIGHT * size
    lines = [part for line in text.splitlines() for part in (wrap(line, fitting) if several else [line])]
    middle = (bottom + top) / 2 - MIDDLE * size
    beside = [word for word in words if bottom - 1 <= word.base < top and word.right <= left]
    nearest = min(beside or words, key=lambda word: (abs(word.base - middle), left - word.right), default=None)
    base = top - HEIGHT * size if several else nearest.base if nearest and beside else middle
    for line in lines:
        letter = min(WIDTH * size, (right - left) / max(len(line), 1))
        for found in re.finditer(r"\[ \]|\S+", line):
            begin, end = left + letter * found.start(), left + letter * (found.end() - 0.3)
            yield Word(found[0], begin, end, base, size, drawn, nearest.number if nearest else 0)
        base -= HEIGHT * size
