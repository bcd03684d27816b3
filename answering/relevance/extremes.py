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
from answering.text.blocks import cells
from answering.text.terms import stem, words
from answering.types import Chunk, FoundSentences

MIN_ROWS = 2
"""Fewest rows that are compared."""
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
    "longest shortest": "length duration",
    "heaviest lightest": "weight mass",
    "fastest slowest": "speed",
    "warmest hottest coldest coolest": "temperature",
}
"""What a word measures where the question does not name it: the names that its column may have."""
_UNITS = frozenset(map(stem, UNITS_BY_NAME))
_IN_PARENTHESES = re.compile(r"\([^()]*\)")
_VERBS = frozenset(map(stem, f"{_HAVE} run leave last start begin".split()))
"""Verbs that say nothing about which rows or column is meant."""
_NO_VALUE = frozenset(["", *"n/a na - – — ? none unknown tbd".split()])
Stems = frozenset[str]


def extreme_rows(question: str, chunks: Sequence[Chunk]) -> tuple[FoundSentences, ...]:
    """Return the row, or the equal ones, with the value that *question* asks for; none where that is not certain.

    *chunks* are all of one document. None is chosen where another table of it may go on with this one.
    """
    tables = tables_of(in_order(chunks))
    rows = [(table, row) for table in tables for row in _extreme(question, table)]
    others = [table for table in tables if rows and table is not rows[0][0]]
    if any(table in others for table, _ in rows) or any(goes_on(rows[0][0], other) for other in others):
        return ()
    return tuple(FoundSentences(chunk, (n,)) for _, (chunk, n) in rows)


def may_compare(question: str, chunk: Chunk) -> bool:
    """Whether *chunk* alone has rows that *question* compares."""
    return any(_extreme(question, table) for table in tables_of([chunk]))


def _extreme(question: str, table: Table) -> list[tuple[Chunk, int]]:
    """Return the rows of *table* with the highest or lowest value of the column that *question* names."""
    found = ASKS_EXTREME.search(question)
    width = len(table.header)
    rows = [cells(chunk.sentences[n]) for chunk, n in table.rows]
    if not found or any(len(row) > width for row in rows):
        return []
    rows = [row + [""] * (width - len(row)) for row in rows]
    with_values = [at for at in range(1, width) if sum(map(bool, (_value(row[at]) for row in rows))) >= MIN_ROWS]
    word, asked = found[0].lower(), content(ASKS_EXTREME.sub(" ", question))
    sign = next(sign for phrase, sign in (_WORDS | _PHRASES).items() if word.endswith(phrase))
    column = _column(asked, word, {at: table.header[at] for at in with_values})
    if column is None or ROWS_IN_DOUBT.search(_without(question, table.header[column])):
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
    return [table.rows[number] for number, value in worth.items() if value == max(worth.values())]


def _comparable(texts: Sequence[str]) -> bool:
    """Whether two of *texts* at least are amounts, all of one unit, and the others say that there is none."""
    values = [_value(text) for text in texts]
    known = [value for value in values if value]
    others = [text.lower() for text, value in zip(texts, values, strict=True) if not value]
    return len(known) >= MIN_ROWS and len({unit for _, unit in known}) == 1 and _NO_VALUE.issuperset(others)


def _without(question: str, name: str) -> str:
    """Return *question* without the words of its extreme and the *name* of a column, "price per pack"."""
    literal = re.escape(_IN_PARENTHESES.sub("", name).strip())
    return re.sub(literal, " ", ASKS_EXTREME.sub(" ", question), flags=re.IGNORECASE)


def _column(asked: Stems, word: str, header: Mapping[int, str]) -> int | None:
    """Return the column that *asked* names by most words, else the column of what *word* measures.

    None where no column, or more than one, is meant.
    """
    names = {at: content(_IN_PARENTHESES.sub("", name.replace("_", " "))) for at, name in header.items()}
    names = {at: name - _UNITS or name for at, name in names.items()}
    named = {at: len(name) for at, name in names.items() if name and name <= asked}
    if not named:
        groups = [measured for group, measured in _MEASURED.items() if not {*word.split()}.isdisjoint(group.split())]
        kinds = frozenset(map(stem, " ".join(groups).split()))
        named = {at: 1 for at, name in names.items() if not kinds.isdisjoint(name)}
    most = [at for at, count in named.items() if count == max(named.values())]
    return most[0] if len(most) == 1 else None


def _value(cell: str) -> tuple[float, str] | None:
    """Return the amount in *cell*, if it is one, and its unit, else the words around the number."""
    found = amounts(cell)
    if len(found) != 1:
        return None
    start, end, (reading, *_) = found[0]
    unit = reading.unit or " ".join(words(f"{cell[:start]} {cell[end:]}"))
    return None if isinstance(reading.value, str) else (float(reading.value), unit)
