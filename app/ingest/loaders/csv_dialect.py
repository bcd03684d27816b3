"""Find the dialect of a CSV file: the separator and quotes with which its rows have equally many cells.

All rows are looked at, since a header or a price may hold the sign that separates elsewhere. ``csv.Sniffer`` and
clevercsv guess, and split "Price, net;22,00" at its commas; here what is not certain is an error.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from app.ingest.loaders.text_encoding import Unreadable

SEPARATORS = "\t|;,"
"""In the order tried: the later ones are more often part of a text."""
SURE = 0.5
"""Least share of the rows that have as many cells as most."""
_DECLARED = re.compile(r"\A\"?sep=([^\n\"])\"?[ \t]*\n", re.IGNORECASE)
_IN_TEXT = {
    ",": re.compile(r",(?=\s|$)|(?<=\d),(?=\d)"),
    ";": re.compile(r";(?=\s|$)"),
    "|": re.compile(r"(?<=\s)\|(?=\s)"),
    "\t": re.compile(r"(?!)"),
}
"""Where a separator stands as text does: before a space, or in a number."""
_NO_SEPARATOR = "\x1f"


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
