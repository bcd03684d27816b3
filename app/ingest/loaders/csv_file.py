"""Load CSV and TSV files, each as one table, by the separator and quotes with which its rows have equally many cells.

All rows are looked at, since a header or a price may hold the sign that separates elsewhere. ``csv.Sniffer`` and
clevercsv guess, and split "Price, net;22,00" at its commas; here what is not certain is an error.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from app.ingest.documents import LoadedDocument
from app.ingest.loaders.outline import Outline, first_of
from app.ingest.loaders.sheet_rows import add_rows, header_index
from app.ingest.loaders.text_encoding import Unreadable, decode

MAX_NAMED = 5  # lines left out that are named one by one; the others are counted
SEPARATORS = "\t|;,"  # in the order tried: the later ones are more often part of a text
SURE = 0.5  # least share of the rows that have as many cells as most
_DECLARED = re.compile(r"\A\"?sep=([^\n\"])\"?[ \t]*\n", re.IGNORECASE)
_IN_TEXT = {
    ",": re.compile(r",(?=\s|$)|(?<=\d),(?=\d)"),
    ";": re.compile(r";(?=\s|$)"),
    "|": re.compile(r"(?<=\s)\|(?=\s)"),
    "\t": re.compile(r"(?!)"),
}
"""Where a separator stands as text does: before a space, or in a number."""
_NO_SEPARATOR = "\x1f"
Numbered = tuple[int, list[str]]


@dataclass(frozen=True, slots=True)
class Dialect:
    """How a file is read, and how well that fits: the share of rows with ``width`` cells, as most have."""

    separator: str
    quote: str | None
    strict: bool = True
    width: int = 1
    share: float = 0.0

    def rows(self, text: str) -> Iterator[tuple[int, list[str]]]:
        """Yield each row, also blank ones, with the line it ends on, from 1. Raises ``csv.Error``."""
        reader = csv.reader(
            io.StringIO(text, newline=""),
            delimiter=self.separator,
            quotechar=self.quote,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            skipinitialspace=True,
            strict=self.strict,
        )
        return ((reader.line_num, row) for row in reader)


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
    named = [f"line {line} left out: {why}" for line, why in left_out]
    outline.notes += first_of(named, MAX_NAMED, "lines left out")
    return outline.document(source)


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


def find_dialect(text: str, separators: str = SEPARATORS) -> tuple[Dialect, str]:
    """Return the dialect of ``text``, and the text without a first line ``sep=;``.

    Raises ``Unreadable`` where two separators fit equally, or none fits half the rows.
    """
    if declared := _DECLARED.match(text):
        separators, text = declared[1], text[declared.end() :]
    fits = [fit for sign in separators if sign in text for fit in _fits(text, sign)]
    best = max((fit.share for fit in fits), default=0.0)
    if best == 0:
        single = _fits(text, _NO_SEPARATOR)  # one column
        return (single[0] if single else Dialect(_NO_SEPARATOR, None)), text
    if best < SURE:
        raise Unreadable("the separator of its columns is not certain: its rows have different numbers of cells")
    equal = {fit.separator: fit for fit in reversed(fits) if fit.share == best}
    chosen = [equal[sign] for sign in separators if sign in equal]
    if len(chosen) > 1:
        chosen = [fit for fit in chosen if all(_is_text(text, fit, sign) for sign in equal if sign != fit.separator)]
    if not chosen:
        signs = " and ".join(sorted({"\t": "tab"}.get(sign, sign) for sign in equal))
        raise Unreadable(f'the separator of its columns is not certain ({signs} fit): begin it with a line "sep=;"')
    return chosen[0], text


def _fits(text: str, separator: str) -> list[Dialect]:
    """Return the ways to quote that a separator can be read with, the usual one first.

    A way is left out if it yields one column, except for a text without a separator.
    """
    ways = [Dialect(separator, '"'), Dialect(separator, None), Dialect(separator, '"', strict=False)]
    if "'" in text:
        ways.append(Dialect(separator, "'"))
    fits = []
    for way in ways:
        try:
            widths = Counter(len(row) for _, row in way.rows(text) if any(map(str.strip, row)))
        except csv.Error:
            continue
        width, count = widths.most_common(1)[0] if widths else (1, 0)
        if width > 1 or separator == _NO_SEPARATOR:
            fits.append(Dialect(separator, way.quote, way.strict, width, count / widths.total() if widths else 0.0))
        if way.strict and way.quote == '"' and fits and fits[-1].share == 1:
            break
    return fits


def _is_text(text: str, dialect: Dialect, sign: str) -> bool:
    """Tell whether ``sign`` is part of the text in every cell that *dialect* reads."""
    return all(sign not in _IN_TEXT[sign].sub("", cell) for _, row in dialect.rows(text) for cell in row)
