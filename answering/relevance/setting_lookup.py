"""Look up a setting in code or in a list of settings, read as a sentence: "The open seconds of gate is 4."."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import NamedTuple

from answering.ports import PassageReader
from answering.relevance.cell_lookup import Cell, can_answer, looked_up, parts, shared_words
from answering.relevance.entities import names_another
from answering.relevance.versions import is_outdated
from answering.text.settings import Setting, settings_of
from answering.text.terms import asks_whether, is_content, stem, stems, words
from answering.types import Chunk, Passage

MAX_CHUNKS, MAX_PARTS = 3, 3
"""Chunks of which settings are read, and passages that they make up, at most."""
MIN_MARGIN = 0.0
"""Logits over "none of them" from which a setting answers (``docs/relevance.md``, "Settings")."""
MIN_NAMED, NAMED_BY = -5.0, 2
"""The same of the one setting that most words of the question name, and how many at the least."""
_NUMBER = re.compile(r"\d+")


class Line(NamedTuple):
    """A setting in sentence ``n`` of ``chunk``; ``named`` by the question: by more than its group."""

    chunk: Chunk
    n: int
    setting: Setting
    cell: Cell
    named: bool


async def look_up_setting(reader: PassageReader, question: str, chunks: Sequence[Chunk]) -> list[Chunk]:
    """Return the chunk with the setting that answers *question* by the reader, that line marked so.

    Raises ``ReadingFailed``.
    """
    if asks_whether(question):
        return []
    asked = [word for word in words(question) if is_content(word)]
    found = [[*_lines(chunk, asked)] for chunk in chunks if not is_outdated(question, chunk)]
    groups = _named_groups(question, [line.setting for lines in found for line in lines])
    ranked = sorted(filter(None, found), key=lambda lines: -max(line.cell.shared for line in lines))
    read = [pair for lines in ranked[:MAX_CHUNKS] for pair in await _read(reader, question, lines)]
    read = [(margin, line) for margin, line in read if _may_answer(question, line, groups)]
    most = max((line.cell.shared for _, line in read), default=0)
    answering = [
        (margin, line)
        for margin, line in read
        if margin >= MIN_MARGIN or (line.named and line.cell.shared == most >= NAMED_BY and margin >= MIN_NAMED)
    ]
    if not answering:
        return []
    margin, line = max(answering, key=lambda pair: pair[0])
    spans = [*line.chunk.spans]
    spans[line.n] = (line.setting.start, line.setting.end)
    return [looked_up(replace(line.chunk, spans=tuple(spans)), line.n, max(margin, MIN_MARGIN))]


def _lines(chunk: Chunk, asked: Sequence[str]) -> Iterator[Line]:
    """Yield the settings of *chunk*; the words of its title name none of them."""
    title = frozenset(words(f"{chunk.title} {chunk.source}"))
    asked = [word for word in asked if word not in title]
    for n in range(len(chunk.spans)):
        for setting in settings_of(chunk, n):
            shared = shared_words(f"{setting.name} {setting.group} {setting.remark}", asked)
            value = setting.value if setting.name else setting.sentence
            named = shared_words(f"{setting.name} {setting.remark}", asked) > 0
            yield Line(chunk, n, setting, Cell(setting.name, value, setting.sentence, shared), named)


def _named_groups(question: str, settings: Sequence[Setting]) -> list[frozenset[str]]:
    """Return the groups of *settings* that *question* names in full, as stems.

    Settings whose names begin with the same word are a group, too: "staff.session.minutes".
    """
    asked = frozenset(stems(question))
    names = [name for setting in settings for name in {*setting.group.split(", "), *setting.name.split()[:1]}]
    groups = Counter(frozenset(stems(name)) for name in names)
    return [group for group, count in groups.items() if count > 1 and group and group <= asked]


async def _read(reader: PassageReader, question: str, lines: Sequence[Line]) -> list[tuple[float, Line]]:
    """Return the *lines* of a chunk, each with its logits over "none of them"."""
    margins: list[float] = []
    for part in islice(parts([line.cell for line in lines]), MAX_PARTS):
        reading = await reader.read(question, Passage.of(lines[0].chunk, [cell.sentence for cell in part]))
        margins += [logit - reading.null for logit in reading.sentences[: len(part)]]
    return list(zip(margins, lines, strict=False))


def _may_answer(question: str, line: Line, groups: Sequence[frozenset[str]]) -> bool:
    """Whether *line* shares a word with *question*, has its numbers, and is about nothing else.

    It has the words of each of *groups*. Where the question has a word right before one of its name, "freezer door",
    that word stands in its chunk.
    """
    chunk, cell = line.chunk, line.cell
    said = f"{chunk.headings} {chunk.source} {cell.sentence}"
    numbers = frozenset(_NUMBER.findall(question)) <= frozenset(_NUMBER.findall(said))
    if not cell.shared or not numbers or not all(group.issubset(stems(said)) for group in groups):
        return False
    name = frozenset(stems(f"{line.setting.name} {line.setting.group}"))
    pairs = [pair for pair in pairwise(words(question)) if all(map(is_content, pair))]
    near = f"{said} {chunk.text}"
    others = any(stem(thing) in name and not shared_words(near, [kind]) for kind, thing in pairs)
    return can_answer(question, cell) and not others and not names_another(question, said)
