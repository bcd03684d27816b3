"""A block that is too long for one chunk → pieces, broken where it hurts least."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from math import ceil

from app.ingest.documents import Block
from app.ingest.word_pieces import CHARS_PER_PIECE, weight
from graph.sentences import sentence_spans


def broken(block: Block, limit: int) -> Iterator[str]:
    """Yield pieces that weigh at most ``limit`` and together are the block's text.

    Prose is broken at sentences and each piece is one (white space after it included), a list at its outermost items,
    code at lines (each piece in its own fence), a table at rows (each piece below the header). A sentence, line or row
    that is itself too long is broken between words, a word that is too long anywhere.
    """
    match block.kind:
        case "prose":
            yield from _sentences(block.text, limit)
        case "list":
            yield from _together(_items(block.text.split("\n")), limit)
        case "code":
            first, *lines, last = block.text.split("\n")
            for piece in _lines(lines, limit - 4):
                yield f"{first}\n{piece}\n{last}"
        case "table":
            header, *rows = block.text.split("\n")
            room = limit - ceil(weight(header))
            if room < limit // 3:
                yield from _lines([header, *rows], limit)
            else:
                yield from (f"{header}\n{piece}" for piece in _lines(rows, room))


def _sentences(text: str, limit: int) -> Iterator[str]:
    starts = [start for start, _ in sentence_spans(text)]
    for start, end in zip([0, *starts[1:]], [*starts[1:], len(text)], strict=True):
        yield from _words(text[start:end], limit)


def _items(lines: Sequence[str]) -> Iterator[list[str]]:
    """The outermost items of a list, each with the lines below it."""
    margin = min((_indent(line) for line in lines if line.strip()), default=0)
    item: list[str] = []
    for line in lines:
        if item and line.strip() and _indent(line) == margin:
            yield item
            item = []
        item.append(line)
    yield item


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _together(items: Iterable[list[str]], limit: int) -> Iterator[str]:
    """Whole items, as many together as fit; one that is too long is broken at lines."""
    held: list[str] = []
    size = 0.0
    for item in items:
        more = sum(map(weight, item))
        if held and size + more > limit:
            yield from _lines(held, limit)
            held, size = [], 0.0
        held += item
        size += more
    yield from _lines(held, limit)


def _lines(lines: Iterable[str], limit: int) -> Iterator[str]:
    """Whole lines, as many together as fit."""
    held: list[str] = []
    size = 0.0
    for line in lines:
        for part in _words(line, limit):
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
