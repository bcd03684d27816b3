"""Find the sentences about another of several alike than a question names, by comparing the chunks in reach.

Alike are the rows of a table, chapters and sections with headings or texts of the same form, and sentences that name
things beside the same noun. Where one of them has a name that the question has, the others are about another.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest

from answering.relevance.chapters import rival_chapters
from answering.relevance.earlier_messages import QUOTED, of_earlier_message
from answering.relevance.entities import about_labels, asked_labels
from answering.relevance.entries import is_looked_up, surely_named
from answering.relevance.named_things import CALENDAR, WORD, are_alike, content, tokens_of
from answering.relevance.openings import of_other_opening
from answering.relevance.quantities import BOUND
from answering.relevance.subjects import is_other_language, of_other_topic, of_unknown_kind
from answering.relevance.things import of_other_label
from answering.text.blocks import cells, filled_columns, is_row, table_header
from answering.text.terms import is_uncased, stem
from answering.types import About, Chunk

LONGEST_NAME = 4  # words of a cell that is a name
_IN_PARENTHESES = re.compile(r"(?<=\w) ?\([^()]*\)")
OF_OTHERS = (of_other_topic, of_other_label, of_unknown_kind)
Stems = frozenset[str]
Position = tuple[int, int]  # the number of a chunk, and of a sentence in it


@dataclass
class Comparison:
    """What was found about the sentences of *chunks*: those of the one that is asked for, and those of others.

    ``names`` are the stems by which the one is named, ``kinds`` those of what there are several of ("plan").
    """

    question: str
    chunks: Sequence[Chunk]
    asked: set[Position] = field(default_factory=set)
    others: set[Position] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    kinds: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        named = BOUND.sub(" ", self.question)
        self.tokens, self.stems = tokens_of(named), content(named)


def compared(question: str, chunks: Sequence[Chunk]) -> tuple[Chunk, ...]:
    """Return *chunks*, the candidates for *question*, with ``about`` set."""
    found = Comparison(question, chunks)
    for compare in (_labels, _rows, _sections, _chapters):
        compare(found)
    told_apart = frozenset(found.others)
    by_words = () if is_other_language(question) else OF_OTHERS
    checks = (of_other_opening,) if is_uncased(question) else by_words
    quoted = any((chunk.section or "").startswith(QUOTED) for chunk in chunks)
    for others in (of_earlier_message, *checks) if quoted else checks:
        found.others.update(others(question, chunks))
    found.asked -= found.others
    fields = found.stems - (found.names - CALENDAR) - found.kinds  # a day may name a column
    named_fields = {(at, n): content(filled_columns(chunks[at], n)) & fields for at, n in found.asked | found.others}
    most_asked = max((len(named_fields[place]) for place in found.asked), default=0)
    rows = {is_row(chunks[at], n) for at, n in found.asked}
    rivals = [(at, n) for at, n in told_apart if is_row(chunks[at], n) in rows]
    most_others = max(
        (len(surely_named(named_fields[at, n], chunks[at], n, found.tokens)) for at, n in rivals), default=0
    )
    if found.asked and most_others > most_asked:  # the asked one does not have what others of its kind have
        found.others |= found.asked
    if any(named_fields[at, n] and is_row(chunks[at], n) for at, n in found.asked):  # another table has no such column
        found.others.update((at, n) for at, n in found.asked if is_row(chunks[at], n) and not named_fields[at, n])
    about = [[About.UNKNOWN] * len(chunk.spans) for chunk in chunks]
    if told_apart:  # that a sentence is about another thing makes none beside it the one that is asked for
        for at, n in found.asked:
            looked_up = is_looked_up(question, chunks[at], n, named_fields[at, n])
            about[at][n] = About.LOOKED_UP if looked_up else About.NAMED
    for at, n in found.others:
        about[at][n] = About.ANOTHER
    return tuple(replace(chunk, about=tuple(marks)) for chunk, marks in zip(chunks, about, strict=True))


def _labels(found: Comparison) -> None:
    """Compare numbers, codes, names beside a noun, and contrasting words."""
    for at, chunk in enumerate(found.chunks):
        for n, about in enumerate(about_labels(found.question, chunk)):
            if about is not About.UNKNOWN:
                (found.others if about is About.ANOTHER else found.asked).add((at, n))
    for noun, labels in asked_labels(found.question).items():
        found.names.update(stem(label.lower()) for label in labels)
        found.kinds.add(noun)


def _rows(found: Comparison) -> None:
    """Compare the rows of each table: the others' cells name less of what is asked than those of one."""
    tables: dict[tuple[str, str], list[Position]] = {}
    for at, chunk in enumerate(found.chunks):
        for n in range(len(chunk.spans)):
            if header := table_header(chunk, n):
                tables.setdefault((chunk.document_id, chunk.sentences[header[0]]), []).append((at, n))
    for (_, names), rows in tables.items():
        named = [[_named_in(cell, found) for cell in cells(found.chunks[at].sentences[n])] for at, n in rows]
        _partly_named(found, rows)
        common = frozenset.intersection(*map(_union, named)) | content(names)
        named = [[cell - common for cell in row] for row in named]
        keys = {row[0] for row in named}
        best = [row for row in named if not any(row[0] < key for key in keys)]
        best = [row for row in best if not any(_union(row) < _union(other) for other in best)]
        if len(best) == len(named):
            continue
        for position, row in zip(rows, named, strict=True):
            (found.asked if row in best else found.others).add(position)
        found.names |= _union([_union(row) for row in best])
        found.kinds |= content(cells(names)[0])


def _partly_named(found: Comparison, rows: Sequence[Position]) -> None:
    """Compare the names in each column that are asked in part: "amber float" is no "Fishing float, green"."""
    texts = [cells(found.chunks[at].sentences[n]) for at, n in rows]
    for column in zip_longest(*texts, fillvalue=""):
        short = [text if len(WORD.findall(text)) <= LONGEST_NAME else "" for text in column]
        named = [content(text) & found.stems for text in short]
        best = [name for name in named if any(other and other < name for other in named)]
        if not best:
            continue
        for position, name in zip(rows, named, strict=True):
            (found.asked if name in best else found.others).add(position)


def _named_in(cell: str, found: Comparison) -> Stems:
    """Return what the question has of the name in *cell*: all of it, or names and numbers that it is made of."""
    cell = _IN_PARENTHESES.sub("", cell)
    tokens, named = WORD.findall(cell), content(cell)
    if len(tokens) > LONGEST_NAME:
        return frozenset()
    parts = content(" ".join(token for token in tokens if not token.islower() and token in found.question))
    return named if named <= found.stems else parts & found.stems


def _sections(found: Comparison) -> None:
    """Compare sections by their headings: those of which a rival's heading has the name that is asked."""
    headings = [content(chunk.section or chunk.title) for chunk in found.chunks]
    for at, mine in enumerate(headings):
        for rival, theirs in enumerate(headings):
            name = theirs - mine
            exchanged = name and mine - theirs and name <= found.stems and found.stems.isdisjoint(mine - theirs)
            if exchanged and are_alike(found.chunks[at], found.chunks[rival]):
                _part(found, at, rival, name)
                found.kinds |= mine & theirs


def _chapters(found: Comparison) -> None:
    """Compare chapters that have sections of the same heading: "Kiel depot", "Hamburg depot"."""
    if not found.stems.isdisjoint(content("\n".join(chunk.chapter or "" for chunk in found.chunks))):
        for at, rival, name in rival_chapters(found.stems, found.chunks):
            _part(found, at, rival, name)


def _part(found: Comparison, at: int, rival: int, name: Stems) -> None:
    """Take chunk *rival* for what is asked for, and the sentences of chunk *at* without the *name* for others."""
    found.others.update((at, n) for n, text in enumerate(found.chunks[at].sentences) if not name <= content(text))
    found.asked.update((rival, n) for n in range(len(found.chunks[rival].spans)))
    found.names |= name


def _union(sets: Sequence[Stems]) -> Stems:
    return frozenset[str]().union(*sets)
