"""Load CSV, and add the rows of any spreadsheet to an outline."""

import csv
import io
from collections.abc import Iterable, Sequence

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.outline import Outline, table_text
from app.ingest.loaders.text_encoding import Unreadable, decode


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a CSV file; its delimiter is the most frequent one in the first line.

    Raises ``Unreadable`` for binary data and an endless quoted cell.
    """
    text = decode(data).lstrip("\n")
    delimiter = max(",;\t|", key=text.split("\n", 1)[0].count)
    outline = Outline()
    try:
        add_rows(outline, csv.reader(io.StringIO(text), delimiter=delimiter))
    except csv.Error as error:
        raise Unreadable(f"a damaged CSV file ({error})") from error
    return outline.document(source)


def add_rows(outline: Outline, rows: Iterable[Sequence[str]], name: str = "") -> None:
    """Add rows as one table below the heading ``name``.

    The first row of two or more cells is the header, single cells above it are paragraphs. Blank rows and columns go.
    """
    filled_rows = [row for row in rows if any(map(str.strip, row))]
    if filled_rows:
        outline.heading(1, name)
    header = next((at for at, row in enumerate(filled_rows) if sum(map(bool, map(str.strip, row))) > 1), 0)
    for row in filled_rows[:header]:
        outline.add(" ".join("".join(row).split()))
    filled = {at for row in filled_rows[header:] for at, cell in enumerate(row) if cell.strip()}
    cells = ([cell for at, cell in enumerate(row) if at in filled] for row in filled_rows[header:])
    outline.add(table_text(cells), "table")
