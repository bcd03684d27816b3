"""Count the rows of a table that a question asks for: "How many orders are open?".

A count is right only where it is certain which rows are meant, and that all of them are seen. So every word of the
question has to be a value of a column, or to say what the rows are; in doubt nothing is counted.
"""

import re
from collections.abc import Sequence
from itertools import groupby, zip_longest
from typing import NamedTuple

from answering.relevance.named_things import content
from answering.relevance.quantities import stocks
from answering.text.blocks import cells, is_row, table_header
from answering.text.terms import is_content, stem, words
from answering.types import Chunk, FoundSentences

ASKS_COUNT = re.compile(r"\bhow many\b|\b(?:the|total) number of\b", re.IGNORECASE)
"""A question that the functions here are for."""
LONGEST_VALUE = 4
"""Words of the longest cell that is a value; a longer one is a text."""
ROWS_IN_DOUBT = re.compile(
    r"\b(?:not|no|never|neither|nor|\w+n['’]t|without|except|besides|other|than|over|under|above|below|most|least"
    r"|before|after|since|until|till|between|both|same|per|each|different|distinct|average"
    r"|will|would|shall|should|must|can|could|might)\b|[<>=]|(?-i:\bMay\b)",
    re.IGNORECASE,
)
"""A question with one of these asks for other rows than those that have a value of it."""
_TOTAL = re.compile(r"\|[\s|*_]*(?:(?:grand |sub)?totals?|sum|average|mean)\b", re.IGNORECASE)
"""The beginning of a row that sums the others up."""
WORDS_FOR_ROWS = frozenset(
    map(stem, "rows entries records lines listed exist exists total altogether table document".split())
)
"""Words that say nothing about which rows are meant."""
_VERBS = frozenset(
    map(
        stem,
        "accept allow carry contain demand have include need offer provide require sell speak take teach use".split(),
    )
)
"""Verbs between what the rows are and the column that has to say yes; others may deny it ("lack")."""
YES, NO = frozenset({"yes", "y", "x", "✓", "✔", "true"}), frozenset({"no", "n", "", "-", "–", "—", "✗", "false"})

Stems = frozenset[str]


class Table(NamedTuple):
    """A table of a document, from all its chunks: ``about`` names it, ``rows`` are (chunk, sentence number)."""

    about: str
    header: Sequence[str]
    rows: Sequence[tuple[Chunk, int]]


def count_rows(question: str, chunks: Sequence[Chunk]) -> tuple[FoundSentences, ...]:
    """Return the rows that *question* counts, by chunk, in reading order; none where they are not certain.

    *chunks* are all of one document. Nothing is counted where another table of it may go on with this one, or has the
    rows that are asked for too.
    """
    tables = tables_of(in_order(chunks))
    counted = [(table, rows) for table in tables if (rows := matching_rows(question, table))]
    if len(counted) != 1:
        return ()
    table, rows = counted[0]
    if any(goes_on(table, other) for other in tables if other is not table):
        return ()
    by_chunk = groupby(rows, key=lambda row: row[0].chunk_id)
    found = [(*group,) for _, group in by_chunk]
    return tuple(FoundSentences(group[0][0], tuple(n for _, n in group)) for group in found)


def in_order(chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return the chunks of a document as they stand in it; none where one is missing."""
    chunks = sorted(chunks, key=lambda chunk: chunk.chunk_index or 0)
    indexes = [chunk.chunk_index for chunk in chunks]
    return chunks if None in indexes or indexes == [*range(len(chunks))] else []


def may_count(question: str, chunk: Chunk) -> bool:
    """Whether *chunk* alone has rows that *question* counts."""
    return any(matching_rows(question, table) for table in tables_of([chunk]))


def has_rows_to_count(question: str, chunk: Chunk) -> bool:
    """Whether two rows of *chunk* or more have as many words of *question*, which asks how many, and none has more."""
    rows = [n for n in range(len(chunk.spans)) if is_row(chunk, n)]
    if len(rows) < MIN_ROWS:
        return False
    asked = content(question)
    shared = [len(asked & content(chunk.sentences[n])) for n in rows[1:]]
    return shared.count(max(shared)) > 1


MIN_ROWS = 3
"""Rows of a table, its header included, of which several may be asked for."""


def tables_of(chunks: Sequence[Chunk]) -> list[Table]:
    """List the tables of a document: runs of rows below the same header, in one section."""
    found: dict[tuple[str | None, tuple[str, ...]], Table] = {}
    for chunk in chunks:
        rows = [n for n in range(len(chunk.spans)) if is_row(chunk, n)]
        for _, group in groupby(rows, key=lambda n: table_header(chunk, n) or [n]):
            first, *others = group
            if others and len(cells(chunk.sentences[first])) == 1:  # a title across the table
                first, *others = others
            header = tuple(cells(chunk.sentences[first]))
            about = " ".join(filter(None, (chunk.title, chunk.chapter, chunk.section)))
            table = found.setdefault((chunk.section, header), Table(about, header, []))
            counted = [(chunk, n) for n in others if not _TOTAL.match(chunk.sentences[n])]
            found[chunk.section, header] = table._replace(rows=[*table.rows, *counted])
    return list(found.values())


def goes_on(table: Table, other: Table) -> bool:
    """Whether *other* may be more of *table*: as many columns, and the same header, the same section or a further page.

    A table that another program split, or that a PDF breaks over two pages, has no header where it goes on.
    """
    if len(table.header) != len(other.header) or (table.header != other.header and _names_numbers(other)):
        return False
    pages = {chunk.page for chunk, _ in (*table.rows, *other.rows)}
    return table.header == other.header or table.about == other.about or pages != {None}


def _names_numbers(table: Table) -> bool:
    """Whether the header of *table* has a word above a column of numbers: it is no row of the table before it."""
    rows = [cells(chunk.sentences[n]) for chunk, n in table.rows]
    columns = zip_longest(*rows, fillvalue="")
    numeric = [all(re.search(r"\d", cell) for cell in column) for column in columns]
    return any(
        number and name and not re.search(r"\d", name) for name, number in zip(table.header, numeric, strict=False)
    )


def matching_rows(question: str, table: Table) -> list[tuple[Chunk, int]]:
    """Return the rows of *table* that have the values which *question* names; none where it is not certain which."""
    width = len(table.header)
    rows = [cells(chunk.sentences[n]) for chunk, n in table.rows]
    rows = [row + [""] * (width - len(row)) for row in rows]
    if ROWS_IN_DOUBT.search(question) or any(len(row) > width for row in rows):
        return []
    if len({tuple(row) for row in rows}) < len(rows):  # a repeated row may be one that another program stored twice
        return []
    asked = content(ASKS_COUNT.sub(" ", question))
    names = [content(name) for name in table.header]
    columns = [[row[at] for row in rows] for at in range(width)]
    values = [values_asked(column, name, question) for column, name in zip(columns, names, strict=True)]
    used: Stems = frozenset()
    for at, chosen in enumerate(values):
        if chosen is None:
            return []
        named = frozenset[str]().union(*(content(value) - names[at] for value in chosen))
        if used & named:  # it is not certain which of two columns is meant
            return []
        used |= named
    if not any(values):
        return []
    kept = [number for number, row in enumerate(rows) if all(not v or row[at] in v for at, v in enumerate(values))]
    conditions = frozenset[str]().union(*(name for name, chosen in zip(names, values, strict=True) if chosen))
    if not _are_what_is_counted(_counted_noun(question), table, names, [rows[number] for number in kept], used):
        return []
    key = next((name for name in names if _counted_noun(question) in name), frozenset[str]())
    if asked - used - conditions - key - names[0] - content(table.about) - WORDS_FOR_ROWS - _VERBS:
        return []
    return [table.rows[number] for number in kept]


def values_asked(column: Sequence[str], name: Stems, question: str) -> frozenset[str] | None:
    """Return the values of *column* that are asked for; None where a cell may be meant or not."""
    asked, all_asked = content(question), {*words(question)}
    flags = {cell.lower() for cell in column}
    if any(words(cell) and not content(cell) and {*words(cell)} <= all_asked for cell in flags - YES - NO):
        return None  # "on", "May"
    if name and name <= asked and flags <= YES | NO:
        return frozenset(cell for cell in column if cell.lower() in YES)
    # In a column Floor, "ground floor" and "third floor" are told apart by their other words.
    named = [cell for cell in column if (content(cell) - name or content(cell)) & asked]
    stems_of_cells = {cell: frozenset(map(stem, words(cell))) for cell in named}
    chosen = {
        cell: some for cell, some in stems_of_cells.items() if some <= asked and len(words(cell)) <= LONGEST_VALUE
    }
    largest = {cell: some for cell, some in chosen.items() if not any(some < other for other in chosen.values())}
    if chosen and stems_of_cells.keys() - chosen.keys():
        return None
    return frozenset(largest)


def _counted_noun(question: str) -> str:
    """Return the stem of what *question* counts: the last content word in a row after "how many"; "" for others."""
    _, _, asked = ASKS_COUNT.sub("\0", question, count=1).partition("\0")
    noun = ""
    for word in words(asked):
        if is_content(word) and stem(word) not in _VERBS:
            noun = stem(word)
        elif noun:
            break
    return noun


def _are_what_is_counted(
    noun: str, table: Table, names: Sequence[Stems], rows: Sequence[Sequence[str]], used: Stems
) -> bool:
    """Whether the *rows* are what *noun* says: by the first column, a value, or the table's names.

    Where another column is named so, it has a different text in each row: else one would be counted twice.
    """
    column = next((at for at, name in enumerate(names) if noun in name), None)
    if column:
        found = [row[column] for row in rows]
        return all(found) and len({*found}) == len(found) and not any(re.search(r"\d", cell) for cell in found)
    counts = [cell for chunk, n in table.rows for cell in stocks(table.header, cells(chunk.sentences[n]))]
    is_value = noun in used and not any(re.search(r"\d", cell) for cell in counts)
    return column == 0 or is_value or noun in WORDS_FOR_ROWS or noun in content(table.about)
