"""Tell which of several alike (articles, rooms, depots) the sentences of a chunk are about."""

import re
from collections.abc import Mapping
from itertools import pairwise

from answering.text.blocks import cells, is_row, row_with_column_names, table_header
from answering.text.terms import is_content, stem
from answering.types import Chunk

_TOKEN = re.compile(r"\w+(?:['’]\w+)*(?:[.,]\d+)*|[.!?](?=\s)")
_RANGE = re.compile(r"\b(\d+)\s?(?:-|–|to)\s?(\d+)\b")
_CONTRASTS = tuple(
    frozenset(words.split())
    for words in (
        "north south east west northern southern eastern western central",
        "left right",
        "upper lower middle",
        "front rear back",
        "inner outer",
        "indoor outdoor",
        "primary secondary",
        "day night",
        "winter summer spring autumn",
        "red green blue yellow white black orange brown grey purple pink",
        "first second third fourth fifth sixth",
    )
)
"""Words of which one before a noun tells a thing from others alike ("the north depot")."""

Named = dict[str, frozenset[str]]
"""The labels of each kind of thing, by the stem of its noun: ``{"articl": {"4714"}, "depot": {"north"}}``."""


def named_things(text: str) -> Named:
    """Find the things that *text* names: a number or code after a noun, one of a set of contrasting words before it."""
    found: dict[str, set[str]] = {}
    tokens = ["", *_TOKEN.findall(text)]
    linked = [token for at, token in enumerate(tokens) if not (token.lower() in _LINKS and tokens[at - 1].isalpha())]
    for first, second in pairwise(linked):
        word, label = first.lower(), second.lower()
        if is_content(word) and word.isalpha() and label[0].isdigit() and not _is_unit_like(first):
            found.setdefault(stem(word), set()).add(label)
        elif _contrast(word) and label.isalpha() and is_content(label):
            found.setdefault(stem(label), set()).add(word)
    return {noun: frozenset(labels) for noun, labels in found.items()}


def of_others(question: str, chunk: Chunk) -> tuple[bool, ...]:
    """Tell for each sentence of *chunk* whether it is about another of several alike than *question* names.

    A sentence is about what it names itself, or else about what the one before it is about; at first about what the
    innermost heading names. A row is about the value in its cells.
    """
    asked = {noun: labels for noun, labels in named_things(question).items() if len(labels) == 1}
    if not asked:
        return (False,) * len(chunk.spans)
    heading: Named = {}
    for text in (chunk.title, chunk.chapter, chunk.section):
        heading |= named_things(text or "")
    about, others = heading, []
    for n, sentence in enumerate(chunk.sentences):
        about = {**about, **named_things(row_with_column_names(chunk, n))}
        others.append(any(_another(noun, label, about, sentence) for noun, (label,) in asked.items()))
        if is_row(chunk, n):
            others[n] = others[n] or any(_row_of_another(label, chunk, n) for (label,) in asked.values())
            about = heading
    return tuple(others)


def names_asked(question: str, chunk: Chunk) -> bool:
    """Whether *chunk* names a number or code of *question*, after a noun or in a cell of its own."""
    codes = {label for labels in named_things(question).values() for label in labels if label[0].isdigit()}
    if not codes:
        return False
    named = [named_things(text) for text in (chunk.title, chunk.chapter or "", chunk.section or "", chunk.text)]
    labels = {label for thing in named for of_noun in thing.values() for label in of_noun}
    return not codes.isdisjoint(labels.union(cell for n in range(len(chunk.spans)) for cell in _cells(chunk, n)))


def _cells(chunk: Chunk, n: int) -> list[str]:
    return cells(chunk.sentences[n]) if is_row(chunk, n) else []


def _another(noun: str, label: str, about: Mapping[str, frozenset[str]], sentence: str) -> bool:
    """Whether *about* names another *noun* than *label*, which *sentence* does not name either."""
    labels = about.get(noun, frozenset())
    contrast = _contrast(label)
    rivals = labels & contrast if contrast else {label for label in labels if label[0].isdigit()}
    held = {token.lower() for token in _TOKEN.findall(sentence)}
    in_range = label.isdigit() and any(int(a) <= int(label) <= int(b) for a, b in _RANGE.findall(sentence))
    return bool(rivals) and label not in labels | held and not in_range


def _row_of_another(label: str, chunk: Chunk, n: int) -> bool:
    """Whether another row of the table has the cell *label*, a number, and row *n* none."""
    header = table_header(chunk, n)
    if not header or not label[0].isdigit() or label in cells(chunk.sentences[n]):
        return False
    rows = [at for at in range(header[0] + 1, len(chunk.spans)) if is_row(chunk, at)]
    return any(label in cells(chunk.sentences[at]) for at in rows)


def _contrast(word: str) -> frozenset[str]:
    """Return the set of contrasting words that *word* is of; an empty one for other words."""
    return next((words for words in _CONTRASTS if word in words), frozenset())


def _is_unit_like(word: str) -> bool:
    """Whether a number after *word* is no label: an abbreviation or a verb's amount."""
    return len(word) < 2 or word.lower() in _NO_NOUNS


_LINKS = frozenset("number no nr num code id".split())
"""Words between a noun and its label: "article number 4714"."""
_NO_NOUNS = frozenset(
    """least most max maximum min minimum approximately nearly around every after before within costs cost takes take
    holds hold last lasts than pays pay needs need carries lift lifts weighs page april may june july august
    january february march september october november december
    monday tuesday wednesday thursday friday saturday sunday
    """.split()
)
"""Words before an amount or a day, which name nothing of which there are several alike."""
