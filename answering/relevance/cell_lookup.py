"""Look up a cell of a table: the row by what the question names, the column by the reader.

"How many people fit in coach 22?" has no word of "| 22 | Third-class coach | 1904 | 13.9 | 52 |" below "Seats" but the
number, and the reader makes little of a row. It is asked of each cell: "The Seats of 22 is 52."
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise, product
from typing import NamedTuple

from answering.ports import PassageReader
from answering.relevance.entities import LOOKED_UP, UNREAD, names_another
from answering.relevance.named_things import content
from answering.relevance.possible_answers import OF_OTHERS, has_kind, lacks_cell
from answering.relevance.quantities import ASKS_AMOUNT, has_amount
from answering.relevance.versions import is_later, is_outdated
from answering.text.amounts import in_full
from answering.text.blocks import cells, column_names, row_with_column_names, table_header
from answering.text.context import LONGEST_PASSAGE
from answering.text.terms import asks_whether, is_content, stem, stems, words
from answering.types import About, Chunk, Passage, ReadPassage

MAX_TABLES, MAX_PARTS = 3, 3
"""Tables of which a row is read, and passages that its cells make up, at most."""
MIN_MARGIN = -1.0
"""Logits over "none of them" from which a cell answers (``docs/relevance.md``, "Cells")."""
MIN_NAMED = -6.0
"""The same below the one column that the question names."""
MIN_SHORTENED = 3
"""Letters of the beginning of a word that stands for it in the name of a column: "disc", "press."."""
NAME_COLUMNS = 2
"""Columns at the left in which a part of a cell names the row: "the Albion" the "Albion hand press"."""
_LETTER = re.compile(r"\b[B-HJ-Z]\b")
_IS_NAME = re.compile(rf"[^\W\d_]{{2}}|[^\W\d_]-?\d|{_LETTER.pattern}")
"""A word, a code or a letter: a cell with one may name its row. ``_names`` adds numbers."""
_NUMBER = re.compile(r"\d+")
Pairs = frozenset[tuple[str, str]]


class NamedRow(NamedTuple):
    """Sentence ``n`` of ``chunk``, the row of its table that ``words`` words of a question name, in ``columns``."""

    chunk: Chunk
    n: int
    columns: tuple[int, ...]
    words: int


class Cell(NamedTuple):
    """A cell of a named row, and the sentence it makes; ``shared`` words of its column are words of the question."""

    column: str
    value: str
    sentence: str
    shared: int


async def look_up(reader: PassageReader, question: str, chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return those of *chunks* with a row of which a cell answers *question* by the reader, that row marked so.

    Of several only the later ones. Raises ``ReadingFailed``.
    """
    found = []
    for row in named_rows(question, chunks)[:MAX_TABLES]:
        margin = await _margin(reader, question, row)
        if margin is not None:
            found.append(looked_up(row.chunk, row.n, margin))
    return [chunk for chunk in found if not any(is_later(other, chunk) for other in found)]


def named_rows(question: str, chunks: Sequence[Chunk]) -> list[NamedRow]:
    """Return the rows that *question* names, one of a table at most: those with the most words of it."""
    asked = frozenset[str]() if asks_whether(question) else content(question).union(_LETTER.findall(question))
    tables: dict[tuple[str, str], list[tuple[Chunk, int]]] = {}
    for chunk in chunks:
        for n in range(len(chunk.spans)):
            if (header := table_header(chunk, n)) and not is_outdated(question, chunk):
                tables.setdefault((chunk.document_id, chunk.sentences[header[0]]), []).append((chunk, n))
    pairs = frozenset(pairwise(stems(question)))
    named = [row for table in tables.values() if (row := _named_row(asked, pairs, table))]
    rows = [row for row in named if not _is_of_another(question, row)]
    most = max((row.words for row in rows), default=0)
    return [row for row in rows if row.words == most]


def _named_row(asked: frozenset[str], pairs: Pairs, table: Sequence[tuple[Chunk, int]]) -> NamedRow | None:
    """Return the row of *table* that has more words *asked* for than any other; None where no row has.

    They make up a whole cell, or one that names the row has them and no other row. A word of every row counts nothing.
    """
    rows = [cells(chunk.sentences[n]) for chunk, n in table]
    names = [_names(chunk, n, pairs) for chunk, n in table]
    whole = [_union(name for name in map(_words, own.values()) if name <= asked) for own in names]
    parts = frozenset(word for word in asked if not word[0].isdigit())
    part = [_union(content(name) & parts for name in row[:NAME_COLUMNS] if _IS_NAME.search(name)) for row in rows]
    counts = Counter(word for mine, some in zip(whole, part, strict=True) for word in mine | some)
    if len(rows) > 1:
        counts = Counter({word: count for word, count in counts.items() if count < len(rows)})
    ranked = []
    for at, (mine, some) in enumerate(zip(whole, part, strict=True)):
        names_it = not mine.isdisjoint(counts) or any(counts[word] == 1 for word in some)
        ranked.append((len((mine | some) & counts.keys()) * names_it, len(mine), at))
    (words, covered, at), *others = sorted(ranked, reverse=True)
    if not words or any(other[:2] == (words, covered) for other in others):
        return None
    chunk, n = table[at]
    named = [column for column, name in names[at].items() if _words(name) <= whole[at] | part[at]]
    return NamedRow(chunk, n, tuple(named or [0]), words)


def _names(chunk: Chunk, n: int, pairs: Pairs) -> dict[int, str]:
    """Return the cells that may name row *n*, by column: the first, those with a word, and numbers after their column.

    *pairs* are the neighbouring words of the question, as stems: "socket 3".
    """
    (header,) = table_header(chunk, n)
    columns = zip(column_names(chunk.sentences[header]), cells(chunk.sentences[n]), strict=False)
    return {
        at: cell
        for at, (column, cell) in enumerate(columns)
        if _words(cell) and (not at or _IS_NAME.search(cell) or not pairs.isdisjoint(product(stems(column), [cell])))
    }


def _words(name: str) -> frozenset[str]:
    """Return the stems of *name*; a single letter, as a size, is one."""
    return content(name) or frozenset(_LETTER.findall(name))


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset[str]().union(*sets)


def _is_of_another(question: str, row: NamedRow) -> bool:
    """Whether *row* has not every number that *question* names, or no value where it asks for one."""
    chunk = row.chunk
    said = f"{chunk.headings} {chunk.source} {chunk.dated} {row_with_column_names(chunk, row.n)}"
    lacks_number = not frozenset(_NUMBER.findall(question)).issubset(_NUMBER.findall(said))
    return lacks_number or names_another(question, said) or lacks_cell(question, chunk, row.n)


async def _margin(reader: PassageReader, question: str, row: NamedRow) -> float | None:
    """Return the logits over "none of them" by which a cell of *row* answers *question*; None where none does.

    Below a column of which the question has more words than of any other, the cell needs less of the reader.
    """
    cells_of_row = _cells(question, row)
    read: list[tuple[float, Cell]] = []
    for part in islice(parts(cells_of_row), MAX_PARTS):
        reading = await reader.read(question, Passage.of(row.chunk, [cell.sentence for cell in part]))
        read += [(logit - reading.null, cell) for logit, cell in zip(reading.sentences, part, strict=False)]
    read = [(margin, cell) for margin, cell in read if not cell.value or can_answer(question, cell)]
    margin, best = max(read, key=lambda pair: pair[0], default=(-UNREAD, None))
    if best is None or not best.value:
        return None
    if margin >= MIN_MARGIN:
        return margin
    most = max(cell.shared for cell in cells_of_row)
    named = [cell for cell in cells_of_row if cell.shared == most > 0]
    return MIN_MARGIN if any([cell] == named and cell.value and low >= MIN_NAMED for low, cell in read) else None


def _cells(question: str, row: NamedRow) -> list[Cell]:
    """Return the cells of *row* beside its key, "The Weight (kilograms) of K6 is 9.7.", an empty one with a dash."""
    (header,) = table_header(row.chunk, row.n)
    names, values = column_names(row.chunk.sentences[header]), cells(row.chunk.sentences[row.n])
    values += [""] * (len(names) - len(values))
    key = ", ".join(values[at] for at in row.columns)
    asked = [word for word in words(question) if is_content(word) and word not in words(key)]
    return [
        Cell(name, value, f"The {in_full(name)} of {key} is {value or '–'}.", shared_words(in_full(name), asked))
        for at, (name, value) in enumerate(zip(names, values, strict=False))
        if name and at not in row.columns
    ]


def shared_words(name: str, asked: Sequence[str]) -> int:
    """Return how many words of a column's *name* are *asked*, or begin a word that is: "disc" of "discount"."""
    known = frozenset(map(stem, asked))
    content_words = [word for word in words(name) if is_content(word) and not word[0].isdigit()]
    return sum(
        stem(word) in known or (len(word) >= MIN_SHORTENED and any(other.startswith(word) for other in asked))
        for word in content_words
    )


def parts(row: Sequence[Cell]) -> Iterator[list[Cell]]:
    """Yield the cells of *row*, as many as are read at once."""
    part: list[Cell] = []
    for cell in row:
        if part and sum(len(other.sentence) for other in part) + len(cell.sentence) > LONGEST_PASSAGE:
            yield part
            part = []
        part.append(cell)
    if part:
        yield part


def can_answer(question: str, cell: Cell) -> bool:
    """Whether *cell* is about no other day than *question* asks for, and has an amount or time where it asks."""
    if ASKS_AMOUNT.search(question) and not has_amount(question, f"| {cell.value}"):  # its unit may stand elsewhere
        return False
    said = f"{cell.column}: {cell.value}"
    others = any(check(question, said) for asks, check in OF_OTHERS if asks.search(question))
    return not others and has_kind(question, said)


def looked_up(chunk: Chunk, n: int, margin: float) -> Chunk:
    """Return *chunk* with sentence *n* marked and read as one that is looked up, by *margin*."""
    length = len(chunk.spans)
    reading = chunk.reading or ReadPassage((-UNREAD,) * length, 0.0, -UNREAD)
    gained = margin + LOOKED_UP
    sentences, about = [*reading.sentences], [*(chunk.about or (About.UNKNOWN,) * length)]
    can_answer = [*(chunk.can_answer or (False,) * length)]
    sentences[n], about[n], can_answer[n] = reading.null + gained, About.LOOKED_UP, True
    reading = replace(reading, sentences=tuple(sentences), answerable=max(reading.answerable, gained))
    return replace(chunk, reading=reading, about=tuple(about), can_answer=tuple(can_answer))
