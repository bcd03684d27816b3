"""Find the row of a table with the highest or lowest value that a question asks for: "Which plan is the cheapest?".

As with a count, it is right only where it is certain which column is meant, and that all rows are seen: every word of
the question names that column, a value of another one, or what the rows are; and all values can be compared.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

from answering.relevance.counted_rows import (
    ROWS_IN_DOUBT,
    WORDS_FOR_ROWS,
    Table,
    goes_on,
    in_order,
    tables_of,
    values_asked,
)
from answering.relevance.named_things import content, tokens_of
from answering.text.amounts import UNITS_BY_NAME, amounts
from answering.text.blocks import bullet, cells, is_row
from answering.text.terms import stem, words
from answering.types import Chunk, FoundSentences

MIN_ROWS = 2
"""Fewest rows that are compared."""
MAX_ROWS = 12
"""Most rows that are all shown, as of a list in an answer (``answering/extract/sentences.py``)."""
_SIGNS = {
    1: "highest largest biggest greatest longest heaviest latest fastest warmest hottest dearest",
    -1: "lowest smallest shortest lightest earliest slowest cheapest coldest coolest fewest",
}
_WORDS = {word: sign for sign, group in _SIGNS.items() for word in group.split()}
_PHRASES = {"most expensive": 1, "least expensive": -1, "the most": 1, "the least": -1}
_HAVE = (
    "has have had gave give gives got get gets cost costs take takes took use uses used need needs sold sell sells "
    "hold holds make makes made score scored win won pay pays carry carries offer offers earn earns produce produces"
)
ASKS_EXTREME = re.compile(
    rf"\b(?:{'|'.join(['most expensive', 'least expensive', *_WORDS])})\b"
    rf"|\b(?:{'|'.join(_HAVE.split())}) (?:the most|the least)\b",
    re.IGNORECASE,
)
"""A question that the functions here are for."""
_MEASURED = {
    "cheapest expensive dearest cost costs": "price cost fee charge premium rate fare",
    "longest shortest": "length duration distance",
    "heaviest lightest": "weight mass kg tonnes",
    "largest biggest smallest": "size area",
    "fastest slowest": "speed",
    "warmest hottest coldest coolest": "temperature",
}
"""What a word measures where the question does not name it: the names that its column may have."""
_UNITS = frozenset(map(stem, UNITS_BY_NAME))
_IN_PARENTHESES = re.compile(r"\([^()]*\)")
_VERBS = frozenset(map(stem, f"{_HAVE} run leave last start begin".split()))
"""Verbs that say nothing about which rows or column is meant."""
_ENTRY = re.compile(r"([^:|]{1,80}): *([^:|]{1,40}?)\.?")
_FREE = ("free", "free of charge", "gratis")
_PRICE = re.compile(rf"[€$£¥]|\b(?:euros?|dollars?|pounds?|[A-Z]{{3}}|{'|'.join(_FREE)})\b")
_NO_VALUE = frozenset(["", *"n/a na - – — ? none unknown tbd".split()])
Stems = frozenset[str]


def extreme_rows(question: str, chunks: Sequence[Chunk]) -> tuple[FoundSentences, ...]:
    """Return the row, or the equal ones, with the value that *question* asks for; none where that is not certain.

    *chunks* are all of one document. None is chosen where another table of it may go on with this one.
    """
    ordered = in_order(chunks)
    for tables in (tables_of(ordered), _lists(ordered)):
        rows = [(table, row) for table in tables for row in _extreme(question, table)]
        others = [table for table in tables if rows and table is not rows[0][0]]
        if any(table in others for table, _ in rows) or any(goes_on(rows[0][0], other) for other in others):
            return ()
        if rows:
            return tuple(FoundSentences(chunk, (n,)) for _, (chunk, n) in rows)
    return ()


def may_compare(question: str, chunk: Chunk) -> bool:
    """Whether *chunk* alone has rows, or items of a list, that *question* compares."""
    return any(_extreme(question, table) for table in (*tables_of([chunk]), *_lists([chunk])))


def _lists(chunks: Sequence[Chunk]) -> list[Table]:
    """Return the lists of labels with their values, "Adults: £8", of *chunks* as tables of two columns.

    What is measured stands in the headings above, or is a price, as all values are.
    """
    tables = []
    for chunk in chunks:
        about = " ".join(filter(None, (chunk.title, chunk.chapter, chunk.section)))
        entries = [(chunk, n) for n, text in enumerate(chunk.sentences) if bullet(chunk, n) and _ENTRY.fullmatch(text)]
        are_prices = all(_PRICE.search(_cells(chunk, n)[1]) for _, n in entries)
        if len(entries) >= MIN_ROWS:
            tables.append(Table(about, ("", "price" if are_prices else about), entries))
    return tables


def _cells(chunk: Chunk, n: int) -> list[str]:
    """Return the cells of row *n*, or the label and the value of an item of a list."""
    entry = None if is_row(chunk, n) else _ENTRY.fullmatch(chunk.sentences[n])
    return [*entry.groups()] if entry else cells(chunk.sentences[n])


def _extreme(question: str, table: Table) -> list[tuple[Chunk, int]]:
    """Return the rows of *table* with the highest or lowest value of the column that *question* names.

    Where it may mean several, as "cheapest" an annual and a joining fee, all rows are: at most ``MAX_ROWS``.
    """
    found = ASKS_EXTREME.search(question)
    width = len(table.header)
    rows = [_cells(chunk, n) for chunk, n in table.rows]
    if not found or any(len(row) > width for row in rows):
        return []
    rows = [row + [""] * (width - len(row)) for row in rows]
    with_values = [at for at in range(1, width) if sum(map(bool, (_value(row[at]) for row in rows))) >= MIN_ROWS]
    word, asked = found[0].lower(), content(ASKS_EXTREME.sub(" ", question))
    columns = _columns(asked, word, {at: table.header[at] for at in with_values})
    chosen = [_of_column(question, table, rows, column) for column in columns]
    if len(chosen) > 1 and all(chosen) and any(numbers != chosen[0] for numbers in chosen):
        return [*table.rows] if len(rows) <= MAX_ROWS else []
    return [table.rows[number] for number in chosen[0]] if chosen else []


def _of_column(question: str, table: Table, rows: Sequence[Sequence[str]], column: int) -> list[int]:
    """Return the numbers of the *rows* with the highest or lowest value of *column*; none where that is not certain."""
    word = (ASKS_EXTREME.search(question) or [""])[0].lower()
    asked = content(ASKS_EXTREME.sub(" ", question))
    sign = next(sign for phrase, sign in (_WORDS | _PHRASES).items() if word.endswith(phrase))
    if ROWS_IN_DOUBT.search(_without(question, table.header[column])):
        return []
    about = " ".join([table.header[column].replace("_", " "), table.about, table.header[0]])
    used = content(about) | WORDS_FOR_ROWS | _VERBS
    kept, named = list(range(len(rows))), frozenset[str]()
    for at, name in enumerate(table.header):
        chosen = frozenset[str]() if at == column else values_asked([row[at] for row in rows], content(name), question)
        if chosen is None:
            return []
        if chosen:
            kept = [number for number in kept if rows[number][at] in chosen]
            named |= frozenset[str]().union(*map(content, chosen))
            used |= content(name) | named
    tokens = [stem(token) for token in tokens_of(question)]
    used |= {noun for name, noun in pairwise(tokens) if name in named}  # "main course", of a group "Mains"
    values = {number: _value(rows[number][column]) for number in kept}
    if asked - used or not _comparable([rows[number][column] for number in kept]):
        return []
    worth = {number: sign * value[0] for number, value in values.items() if value}
    return [number for number, value in worth.items() if value == max(worth.values())]


def _comparable(texts: Sequence[str]) -> bool:
    """Whether two of *texts* at least are amounts, all of one unit, and the others say that there is none."""
    values = [_value(text) for text in texts]
    known = [value for value in values if value]
    others = [text.lower() for text, value in zip(texts, values, strict=True) if not value]
    units = {unit for value, unit in known if unit or value}
    return len(known) >= MIN_ROWS and len(units) == 1 and _NO_VALUE.issuperset(others)


def _without(question: str, name: str) -> str:
    """Return *question* without the words of its extreme and the *name* of a column, "price per pack"."""
    literal = re.escape(_IN_PARENTHESES.sub("", name).strip())
    return re.sub(literal, " ", ASKS_EXTREME.sub(" ", question), flags=re.IGNORECASE)


def _columns(asked: Stems, word: str, header: Mapping[int, str]) -> list[int]:
    """Return the columns that *asked* names by most words, else those of what *word* measures."""
    names = {at: content(_IN_PARENTHESES.sub("", name.replace("_", " "))) for at, name in header.items()}
    names = {at: name - _UNITS or name for at, name in names.items()}
    named = {at: len(name) for at, name in names.items() if name and name <= asked}
    if not named:
        groups = [measured for group, measured in _MEASURED.items() if not {*word.split()}.isdisjoint(group.split())]
        kinds = frozenset(map(stem, " ".join(groups).split()))
        named = {at: 1 for at, name in header.items() if not kinds.isdisjoint(content(name))}
    return [at for at, count in named.items() if count == max(named.values())]


def _value(cell: str) -> tuple[float, str] | None:
    """Return the amount in *cell*, if it is one, and its unit, else the words around the number; 0 for "free"."""
    if cell.strip().lower() in _FREE:
        return 0.0, ""
    found = amounts(cell)
    if len(found) != 1:
        return None
    start, end, (reading, *_) = found[0]
    unit = reading.unit or " ".join(words(f"{cell[:start]} {cell[end:]}"))
    return None if isinstance(reading.value, str) else (float(reading.value), unit)
