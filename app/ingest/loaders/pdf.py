"""Load PDF with PDFium: pages in reading order, with their headings, paragraphs and tables."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import groupby
from statistics import mode

import pypdfium2

from answering.text.sentences import sentence_spans
from app.ingest.documents import Block, LoadedDocument
from app.ingest.loaders.archive import ENCRYPTED, reading
from app.ingest.loaders.outline import Outline, table_block
from app.ingest.loaders.pdf_columns import reading_order
from app.ingest.loaders.pdf_forms import read_forms
from app.ingest.loaders.pdf_lines import Row, cells_apart, columns_apart, rows
from app.ingest.loaders.pdf_paragraphs import (
    ITEM,
    MAX_HEADING_CHARS,
    is_heading,
    line_of,
    paragraphs,
    without_running_lines,
)
from app.ingest.loaders.pdf_scans import read_pages
from app.ingest.loaders.pdf_tables import Table, with_tables
from app.ingest.loaders.text_encoding import Unreadable
from app.ingest.loaders.text_lines import LineJoiner
from app.ingest.loaders.text_pages import CONTENTS, ENDS

_MADE_UP = re.compile(
    r"^(?:untitled|microsoft )|\.(?:docx?|xlsx?|pptx?|od[tsp]|rtf|txt|html?|md|pdf|pages|tex|dvi|indd)$", re.IGNORECASE
)
"""A title that the program that wrote the file made up, mostly from the name of another file."""
_LEADER = re.compile(r"(?<![.])(?<!\. )(?:\. ?){4,200}[ |]*(?:\d{1,4}|[ivxl]+)\b")
_ENTRY = re.compile(r"(?:\d+(?:\.\d+)* )?[^.!?]{1,80} (?:\d{1,4}|[ivxl]+)[ |]*\Z")
MIN_LEADERS = 3
"""Dot leaders to page numbers that a section of a table of contents has at the least."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A heading of a ``size``, a paragraph (size 0) or a table; the first of a page or a column ``opens`` it."""

    page: int
    opens: bool
    size: float = 0.0
    text: str = ""
    table: Table | None = None

    @property
    def is_prose(self) -> bool:
        """Whether it is a paragraph."""
        return self.table is None and not self.size


def load(data: bytes, source: str) -> LoadedDocument:
    """Read the text of a PDF, pages 1-based; lines in larger type are headings.

    Blocks of scanned pages that Tesseract recognised say so. Raises ``Unreadable`` when it is encrypted, damaged or
    holds no text.
    """
    with reading("PDF"):
        try:
            document = pypdfium2.PdfDocument(data)
        except pypdfium2.PdfiumError as error:
            if "password" in str(error).casefold():
                raise Unreadable(ENCRYPTED) from error
            raise
        form_notes = read_forms(document)
        read = read_pages(document)
        title = document.get_metadata_dict().get("Title", "").strip()
    pages = [columns_apart(page.words) for page in read.words]
    turned = [columns_apart(page.turned) for page in read.words]
    if not any(pages):
        why = f"its pages are pictures; {read.reason}" if read.pictures else "empty"
        raise Unreadable(f"a PDF without text: {why}")
    body = mode(segment.size for page in pages for segment in page for _ in segment.text)
    pages, notes = without_running_lines(pages, [page.height for page in read.words], body)
    joiner = LineJoiner([segment.text for page in pages for segment in page])
    entries: list[_Entry] = []
    for number, regions in enumerate(zip(map(reading_order, pages), turned, strict=True), 1):
        first = next(iter(regions[0]), None)
        for region in (*regions[0], regions[1]):
            cells = cells_apart([word for segment in region for word in segment.words])
            parts = with_tables(rows(cells), joiner.join, read.rules[number - 1])
            entries += _entries(number, parts, body, joiner, opens_page=region is first)
    outline = Outline(form_notes + read.notes + notes)
    _add(outline, entries, joiner)
    loaded = outline.document(source, None if _MADE_UP.search(title) else title or None)
    kept = _without_contents(loaded)
    blocks = [block.model_copy(update={"recognised": block.page in read.recognised}) for block in kept]
    return loaded.model_copy(update={"blocks": tuple(blocks)})


def _without_contents(document: LoadedDocument) -> list[Block]:
    """Leave out the table of contents: under its heading, what has dot leaders, and lines with a page between these."""
    entries = [n for n, block in enumerate(document.blocks) if CONTENTS.match(block.section or document.title)]
    led = [n for n in entries if _LEADER.search(document.blocks[n].text)]
    if sum(len(_LEADER.findall(document.blocks[n].text)) for n in led) < MIN_LEADERS:
        return [*document.blocks]
    short = {n for n in entries if led[0] - 1 <= n < led[-1] and _ENTRY.fullmatch(document.blocks[n].text)}
    return [block for n, block in enumerate(document.blocks) if n not in short.union(led)]


def _entries(
    page: int, parts: Sequence[Row | Table], body: float, joiner: LineJoiner, *, opens_page: bool
) -> list[_Entry]:
    """Return the headings, paragraphs and tables of one column, in order."""
    entries: list[_Entry] = []
    for is_table, run in groupby(parts, key=lambda part: isinstance(part, Table)):
        if is_table:
            entries += [_Entry(page, not entries, table=table) for table in run if isinstance(table, Table)]
            continue
        lines = [line_of(row) for row in run if not isinstance(row, Table)]
        for group in paragraphs(lines, body, opens_page=opens_page and not entries):
            text = reduce(joiner.join, (line.text for line in group)).replace("\u00ad", "")
            size = group[0].size if is_heading(group[0], body) and len(text) <= MAX_HEADING_CHARS else 0.0
            entries.append(_Entry(page, not entries, size, text))
    return entries


def _add(outline: Outline, entries: Sequence[_Entry], joiner: LineJoiner) -> None:
    """Add headings, paragraphs and tables to ``outline``, each with the 1-based page it begins on."""
    sizes = sorted({entry.size for entry in entries if entry.size}, reverse=True)
    for entry in _united(entries, joiner):
        if entry.table:
            outline.add(*table_block(entry.table.cells), entry.page)
        elif entry.size:
            outline.heading(sizes.index(entry.size) + 1, entry.text, entry.page)
        else:
            outline.add(entry.text, "list" if ITEM.match(entry.text) else "prose", entry.page)


def _united(entries: Sequence[_Entry], joiner: LineJoiner) -> list[_Entry]:
    """Put together what the end of a column or of a page divides.

    A paragraph goes on in the next column. A sentence is moved to the page where it begins. A table that goes on on the
    next page has its first row there too.
    """
    united: list[_Entry] = []
    for entry in entries:
        above = united[-1] if united and entry.opens and entry.page - united[-1].page <= 1 else None
        if above is None:
            united.append(entry)
        elif above.table and entry.table and _same_columns(above.table, entry.table):
            header, cells = above.table.cells[0], entry.table.cells
            continued = entry.table._replace(cells=cells if cells[0] == header else (header, *cells))
            united.append(replace(entry, table=continued))
        elif above.is_prose and entry.is_prose and entry.text[0].islower() and not ENDS.search(above.text):
            end = len(entry.text)
            if above.page < entry.page:
                _, end = (sentence_spans(entry.text) or ((0, end),))[0]
            united[-1] = replace(above, text=joiner.join(above.text, entry.text[:end]))
            if rest := entry.text[end:].strip():
                united.append(replace(entry, text=rest))
        else:
            united.append(entry)
    return united


def _same_columns(one: Table, other: Table) -> bool:
    """Tell whether two tables have as many columns, each at the same position."""
    pairs = list(zip(one.columns, other.columns, strict=False))
    return len(one.columns) == len(other.columns) and all(a[0] < b[1] and b[0] < a[1] for a, b in pairs)
