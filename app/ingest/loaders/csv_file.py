"""Load CSV and TSV files, each as one table."""

import csv
from collections.abc import Sequence

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.csv_dialect import SEPARATORS, Dialect, find_dialect
from app.ingest.loaders.outline import Outline
from app.ingest.loaders.sheet_rows import add_rows, header_index
from app.ingest.loaders.text_encoding import Unreadable, decode

MAX_NAMED = 5
"""Lines left out that are named one by one; the others are counted."""
Numbered = tuple[int, list[str]]


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a CSV file by the dialect that fits all its rows; a row whose columns are not certain is left out and named.

    Raises ``Unreadable`` for binary data, an endless quoted cell, and a file whose columns are not certain.
    """
    whole = decode(data)
    text = whole.lstrip("\n")
    if not text.strip(f"{SEPARATORS} \n"):
        raise Unreadable("no text in it")
    comments, text = _comments(text)
    separators = "\t" if source.lower().endswith((".tsv", ".tab")) and "\t" in text else SEPARATORS
    try:
        dialect, text = find_dialect(text, separators)
        above = whole.count("\n") - text.count("\n")
        rows = [(line + above, row) for line, row in dialect.rows(text)]
    except csv.Error as error:
        raise Unreadable(f"a damaged CSV file ({error})") from error
    kept, left_out = _certain(rows, dialect)
    outline = Outline()
    for comment in comments:
        outline.add(comment)
    add_rows(outline, [row for _, row in kept])
    named = [f"line {line} left out: {why}" for line, why in left_out[:MAX_NAMED]]
    if len(left_out) > MAX_NAMED:
        named.append(f"{len(left_out) - MAX_NAMED} more lines left out")
    return outline.document(source).model_copy(update={"notes": tuple(named)})


def _comments(text: str) -> tuple[list[str], str]:
    """Return the lines ``# …`` above a table without their sign, and the text after them."""
    lines = text.split("\n")
    count = next((at for at, line in enumerate(lines) if not line.startswith("# ")), 0)
    return [line[2:].strip() for line in lines[:count]], "\n".join(lines[count:])


def _certain(rows: list[Numbered], dialect: Dialect) -> tuple[list[Numbered], list[tuple[int, str]]]:
    """Return the rows whose cells surely stand below their header, and (line, why) of the others.

    Raises ``Unreadable`` where most rows have more cells than the header.
    """
    header = header_index([row for _, row in rows])
    width = len(rows[header][1]) if rows else 0
    wide = {at for at, (_, row) in enumerate(rows) if at > header and any(map(str.strip, row[width:]))}
    if wide and 2 * len(wide) >= sum(bool(row) for _, row in rows[header + 1 :]):
        line, row = rows[min(wide)]
        raise Unreadable(
            f"its columns are not certain: line {line} has {len(row)} cells, the header {width}"
            " (its separator in a cell without quotes?)"
        )
    broken = _broken([row for _, row in rows], header, width) if dialect.width == width else set()
    more, fewer = "it has more cells than the header", "it has fewer cells than the header, as after a line break"
    left_out = [(rows[at][0], more if at in wide else fewer) for at in sorted(wide | broken)]
    return [row for at, row in enumerate(rows) if at not in wide | broken], left_out


def _broken(rows: Sequence[Sequence[str]], header: int, width: int) -> set[int]:
    """Return the rows that a line break without quotes has broken in two: short ones that together make one."""
    return {
        part
        for at in range(header + 1, len(rows) - 1)
        if max(len(rows[at]), len(rows[at + 1])) < width and len(rows[at]) + len(rows[at + 1]) == width + 1
        for part in (at, at + 1)
    }
