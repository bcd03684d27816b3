"""Find the lists, lead-ins, code and table headers of a chunk among its sentences.

A chunk's text is Markdown, whoever stored it: a row begins with its bar, an item with its bullet, code stands in its
fence. So kinds are read from the text and not stored beside it, where they could differ from it; and what is asked is
mostly how sentences belong together, which a kind would not tell. All of it takes .35 ms of the 84 ms of a question
(the functions of this module timed in ``make eval``).
"""

import re
from itertools import compress, takewhile

from answering.text.sentences import code_spans
from answering.types import Chunk

_ITEM = re.compile(r"(?:\A|\n)[ \t]*([-*+•]|\(?(?:\d{1,3}|[a-z]|[ivx]{2,4})[.)])[ \t]+\Z")
"""What stands before an item of a list."""
_FENCE = re.compile(r"[ \t]*(?:```[^`\n]*|~~~[^\n]*)\n")
INTRODUCES = re.compile(r"[^.!?…]\Z|\b(?:following|as follows|below)\b")
"""A sentence before a list or code that introduces it."""

_BAR = re.compile(r"(?<!\\)\|")
_DAYS = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
_MONTHS = "January February March April May June July August September October November December".split()
_FULL = {name[:3].lower(): name for name in (*_DAYS, *_MONTHS)}
_SHORT = re.compile(rf"\b({'|'.join(_FULL)}|tues|thurs?|sept)\b\.?", re.IGNORECASE)
_DAY_OF = re.compile(rf"\A{_SHORT.pattern}(?=[ ,/–-]+(?:\d|{_SHORT.pattern}|and\b))", re.IGNORECASE)
"""A short day or month that opens a cell, before a date or another one: "Sun 13 July", "Tue, Thu"."""
_CAMEL_CASE = re.compile(r"[a-z]{2,}(?:[A-Z][a-z]+)+")
_CAMEL_HUMP = re.compile(r"(?<=[a-z])(?=[A-Z])")
MIN_SHORT = 2
"""Names of a table's columns that open with a short day or month, at the least: "Sat" alone may be another word."""
MAX_LINES = 6
"""Lines of the longest block of code that is quoted: about what is taken in at a glance."""


def before(chunk: Chunk, n: int) -> str:
    """Return what stands between sentence *n* and the one before it."""
    return chunk.text[chunk.spans[n - 1][1] if n else 0 : chunk.spans[n][0]]


def bullet(chunk: Chunk, n: int) -> str:
    """Return the bullet of sentence *n* with a space ("2. ", "- "), or nothing where it begins no item of a list."""
    found = _ITEM.search(before(chunk, n))
    return f"{found[1]} " if found else ""


def is_fenced(chunk: Chunk, n: int) -> bool:
    """Whether sentence *n* is the code of a fenced block, or a line of it."""
    start, end = chunk.spans[n]
    code = (first for first, last in code_spans(chunk.text) if first <= start and end <= last)
    return any(_FENCE.match(chunk.text, first) for first in code)


def is_row(chunk: Chunk, n: int) -> bool:
    """Whether sentence *n* is a row of a table."""
    return chunk.text.startswith("|", chunk.spans[n][0])


def is_long_code(chunk: Chunk, n: int) -> bool:
    """Whether sentence *n* is code of more than ``MAX_LINES`` lines that are not blank."""
    return is_fenced(chunk, n) and sum(bool(line.strip()) for line in chunk.sentences[n].split("\n")) > MAX_LINES


def list_around(chunk: Chunk, n: int) -> range:
    """Return the numbers of the sentences of the list that sentence *n* is in; none outside of lists."""

    def ends(at: int) -> bool:
        return "\n\n" in before(chunk, at) and not bullet(chunk, at)

    first, last = n, n + 1
    while first and not ends(first):
        first -= 1
    while last < len(chunk.spans) and not ends(last):
        last += 1
    begin = next((at for at in range(first, last) if bullet(chunk, at)), last)
    return range(begin, last) if begin <= n else range(0)


def introduced_by(chunk: Chunk, n: int) -> list[int]:
    """Return the numbers of the sentences that *n* introduces: a list, code, or after ":" a table or one sentence."""
    text, after = chunk.sentences[n], n + 1
    if after == len(chunk.spans):
        return []
    colon = text.endswith(":")
    if not colon and (bullet(chunk, n) or not INTRODUCES.search(text)):
        return []
    if bullet(chunk, after):
        return list(list_around(chunk, after))
    if colon and is_row(chunk, after):
        return [after, *table_rows(chunk, after)]
    if is_fenced(chunk, after) or (colon and not chunk.text.startswith(("|", "#"), chunk.spans[after][0])):
        return [after]
    return []


def is_further_row(chunk: Chunk, n: int) -> bool:
    """Whether sentence *n* is a row right below another: a blank line parts two tables."""
    return n > 0 and is_row(chunk, n - 1) and is_row(chunk, n) and "\n\n" not in before(chunk, n)


def table_header(chunk: Chunk, n: int) -> list[int]:
    """Return the number of the first row of the table that sentence *n* is a further row of, or nothing."""
    first = n
    while is_further_row(chunk, first):
        first -= 1
    return [first] if first < n else []


def table_rows(chunk: Chunk, header: int) -> range:
    """Return the numbers of the rows below the row *header*."""
    below = takewhile(lambda n: is_further_row(chunk, n), range(header + 1, len(chunk.spans)))
    return range(header + 1, header + 1 + len([*below]))


def cells(row: str) -> list[str]:
    """Return the cells of a Markdown table's *row*, without the space around them."""
    return [cell.strip() for cell in _BAR.split(row.strip().removeprefix("|").removesuffix("|"))]


def column_names(header: str) -> list[str]:
    """Return the names in the *header* of a table, as words: "insured_eur" as "insured eur", "Wed" as "Wednesday"."""
    return [name_as_words(name) for name in _in_full(cells(header))]


def name_as_words(name: str) -> str:
    """Return the *name* of a setting or column as words: "max_per_day", "leadTimeDays"."""
    apart = _CAMEL_HUMP.sub(" ", name).lower() if _CAMEL_CASE.fullmatch(name) else name
    return apart.replace("_", " ")


def filled_columns(chunk: Chunk, n: int) -> str:
    """Return the names of the columns that are filled in row *n*; another sentence as it is."""
    header, text = table_header(chunk, n), chunk.sentences[n]
    return " ".join(compress(column_names(chunk.sentences[header[0]]), cells(text))) if header else text


def labelled(header: str, row: str) -> str:
    """Return the cells of *row* after their columns' names, "Plan: Basic; Price: $5"; a longer row as it is."""
    names, values = (
        _in_full(cells(header)),
        [_SHORT.sub(_full, cell) if _DAY_OF.match(cell) else cell for cell in cells(row)],
    )
    values += [""] * (len(names) - len(values))  # as in GitHub's Markdown, cells that are missing at the end are empty
    if len(names) != len(values) or len(values) < 2:
        return row
    return "; ".join(f"{name}: {value or '–'}" if name else value for name, value in zip(names, values, strict=True))


def _in_full(names: list[str]) -> list[str]:
    """Return the *names* of columns with days and months in full, "Wed 14" as "Wednesday 14", where two are short."""
    if sum(bool(_SHORT.match(name)) for name in names) < MIN_SHORT:
        return names
    return [_SHORT.sub(_full, name) for name in names]


def _full(short: re.Match[str]) -> str:
    return _FULL[short[1].lower()[:3]]


def row_with_column_names(chunk: Chunk, n: int) -> str:
    """Return sentence *n* as it can be read alone: a further row of a table with the names of its columns."""
    header = table_header(chunk, n)
    return labelled(chunk.sentences[header[0]], chunk.sentences[n]) if header else chunk.sentences[n]
