"""A block that is too long for one chunk → pieces, broken where it hurts least."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from math import ceil

from app.ingest.documents import Block
from app.ingest.word_pieces import CHARS_PER_PIECE, weight
from graph.sentences import sentence_spans

_FENCES = ("```", "~~~")


def broken(block: Block, limit: int) -> Iterator[str]:
    """Yield pieces that weigh at most ``limit`` and together are the block's text.

    Prose is broken at sentences and each piece is one (white space after it included), a list at its outermost items,
    code at blank lines or else at lines (each piece in its own fence), a table at rows (each piece below the header).
    A sentence, line or row that is itself too long is broken between words, a word that is too long anywhere.
    """
    match block.kind:
        case "prose":
            yield from _sentences(block.text, limit)
        case "list":
            yield from _together(_items(block.text.split("\n")), limit)
        case "code":
            yield from _code(block.text.split("\n"), limit)
        case "table":
            yield from _table(block.text.split("\n"), limit)


def _sentences(text: str, limit: int) -> Iterator[str]:
    starts = [start for start, _ in sentence_spans(text)]
    for start, end in zip([0, *starts[1:]], [*starts[1:], len(text)], strict=True):
        yield from _words(text[start:end], limit)


def _table(lines: Sequence[str], limit: int) -> Iterator[str]:
    """Rows, as many together as fit, each piece below the header: the first row, and the next if that is a title."""
    count = 2 if len(lines) > 2 and lines[0].count("|") == 2 < lines[1].count("|") else 1
    header = "\n".join(lines[:count])
    room = limit - ceil(weight(header))
    if room < limit // 3:
        yield from _lines(lines, limit)
    else:
        yield from (f"{header}\n{piece}" for piece in _lines(lines[count:], room))


def _code(fenced: Sequence[str], limit: int) -> Iterator[str]:
    """Code in its fence, as many stretches between blank lines together as fit, each piece in a fence of its own."""
    first, *lines, last = fenced
    for piece in _full(_stretches(lines, limit - 4), limit - 4):
        yield "\n".join([first, piece.strip("\n"), last])


def _stretches(lines: Iterable[str], limit: int) -> Iterator[str]:
    """Lines up to a blank one and the blank ones themselves; a stretch that is too long comes line by line."""
    for _, run in groupby(lines, key=lambda line: bool(line.strip())):
        stretch = list(run)
        if sum(map(weight, stretch)) <= limit:
            yield "\n".join(stretch)
        else:
            yield from (part for line in stretch for part in _words(line, limit))


def _items(lines: Sequence[str]) -> Iterator[list[str]]:
    """The outermost items of a list, each with the lines and the code below it."""
    margin = min((_indent(line) for line in lines if line.strip()), default=0)
    item: list[str] = []
    for unit in _units(lines):
        first = unit[0].strip()
        if item and first and not first.startswith(("|", *_FENCES)) and _indent(unit[0]) == margin:
            yield item
            item = []
        item += unit
    yield item


def _units(lines: Sequence[str]) -> Iterator[list[str]]:
    """Lines one by one, but code with its fence as one, and the rows of a table."""
    held: list[str] = []
    for line in lines:
        if held and held[0].lstrip().startswith("|") and not line.lstrip().startswith("|"):
            yield held
            held = []
        held.append(line)
        closes = len(held) > 1 and line.strip() == held[0].strip()[:3]
        if closes or not held[0].lstrip().startswith(("|", *_FENCES)):
            yield held
            held = []
    if held and held[0].lstrip().startswith("|"):
        yield held
    else:
        yield from ([line] for line in held)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _together(items: Iterable[list[str]], limit: int) -> Iterator[str]:
    """Whole items, as many together as fit; one that is too long is broken at lines."""
    held: list[str] = []
    size = 0.0
    for item in items:
        more = sum(map(weight, item))
        if held and size + more > limit:
            yield from _full(_parts(held, limit), limit)
            held, size = [], 0.0
        held += item
        size += more
    yield from _full(_parts(held, limit), limit)


def _parts(lines: Sequence[str], limit: int) -> Iterator[str]:
    """Lines of a list that fit; code and tables stay whole where they do."""
    for unit in _units(lines):
        if len(unit) == 1:
            yield from _words(unit[0], limit)
        elif sum(map(weight, unit)) <= limit:
            yield "\n".join(unit)
        elif unit[0].lstrip().startswith("|"):
            yield from _table(unit, limit)
        else:
            yield from _code(unit, limit)


def _lines(lines: Iterable[str], limit: int) -> Iterator[str]:
    """Whole lines, as many together as fit."""
    return _full((part for line in lines for part in _words(line, limit)), limit)


def _full(parts: Iterable[str], limit: int) -> Iterator[str]:
    """Parts that fit, as many together as do."""
    held: list[str] = []
    size = 0.0
    for part in parts:
        more = weight(part)
        if held and size + more > limit:
            yield from _filled("\n".join(held))
            held, size = [], 0.0
        held.append(part)
        size += more
    yield from _filled("\n".join(held))


def _words(text: str, limit: int) -> Iterator[str]:
    """``text`` itself if it fits, else runs of whole words; a stretch of white space that fills one is left out."""
    if weight(text) <= limit:
        yield text
        return
    start, size = 0, 0.0
    for match in re.finditer(rf"\S{{1,{limit}}}\s{{0,{CHARS_PER_PIECE}}}|\s{{1,{CHARS_PER_PIECE}}}", text):
        more = weight(match.group())
        if size and size + more > limit:
            yield from _filled(text[start : match.start()])
            start, size = match.start(), 0.0
        size += more
    yield from _filled(text[start:])


def _filled(text: str) -> Iterator[str]:
    """``text``, unless it is blank."""
    if text.strip():
        yield text
