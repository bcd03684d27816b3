"""Split plain text into paragraphs, without page headers, page feet and the table of contents."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, takewhile
from typing import TypeVar

from app.ingest.loaders.outline import indent_of

EDGE = 2
"""Lines at the top and at the bottom of a page that may be its header and its foot."""
MAX_ENTRY_CHARS = 200
"""Longest line of a table of contents."""
_NUMBERED_FOOT = re.compile(r"\[Page \d+\][ \t]*$", re.IGNORECASE | re.MULTILINE)
_LEADER = re.compile(r"^\s*(?P<label>\S.*?)\s*(?:\.[ \t]?){3,}\s*(?:\d+|[ivxl]+)\s*$")
_CONTENTS = re.compile(r"\s*(?:table of )?contents\s*:?\s*$", re.IGNORECASE)
_ENDS = re.compile(r"[.!?:;…][\"'”’)\]]*\s*$")
_STARTS_ANEW = re.compile(r"\s*(?:[-*+•‣◦o]\s|\(?\d{1,3}(?:\.\d+)*[.)]|\(?[a-z]\)|\|)")

T = TypeVar("T")


@dataclass(slots=True)
class Paragraph:
    """Adjacent lines that are not blank; ``page`` is the first one's, from 1, None without pages."""

    lines: list[str]
    page: int | None

    @property
    def indent(self) -> int:
        """Columns before the first line."""
        return indent_of(self.lines[0])


def paragraphs(text: str) -> list[Paragraph]:
    """Return the paragraphs of ``text``; form feeds or ``[Page 5]`` end its pages.

    Lines that recur at the edges of the pages are left out, and so is a table of contents whose entries recur as
    lines. A paragraph that a page break cut is one, and stands on the page where it begins.
    """
    if "\f" not in text and len(_NUMBERED_FOOT.findall(text)) >= 3:
        text = _NUMBERED_FOOT.sub("\\g<0>\f", text)
    pages = [page.split("\n") for page in text.split("\f")]
    running = running_lines([[line for line in page if line.strip()] for page in pages])
    pages = [_without_running(page, running) for page in pages]
    paras: list[Paragraph] = []
    for number, page in enumerate(pages, 1):
        for at, lines in enumerate(_runs(page)):
            if at == 0 and paras and _goes_on(paras[-1].lines, lines):
                paras[-1].lines.extend(lines)
            else:
                paras.append(Paragraph(lines, number if len(pages) > 1 else None))
    return _without_contents(paras)


def running_lines(pages: Sequence[Sequence[str]]) -> set[str]:
    """Return the ``running_key`` of lines recurring at the edges of half the pages, and of three."""
    seen = Counter(key for page in pages for key in {running_key(line) for line in (*page[:EDGE], *page[-EDGE:])})
    enough = max(3, (len(pages) + 1) // 2)
    return {key for key, count in seen.items() if count >= enough}


def running_key(line: str) -> str:
    """Return a line with every number as ``#``, to compare lines across pages."""
    return re.sub(r"\d+", "#", " ".join(line.split()).strip(" -–—|.")).casefold()


def trimmed(lines: Sequence[T], runs: Callable[[T], bool]) -> Sequence[T]:
    """Drop a page's first and last lines that recur on all pages, at most ``EDGE`` each."""
    first = sum(1 for _ in takewhile(runs, lines[:EDGE]))
    last = sum(1 for _ in takewhile(runs, reversed(lines[first:][-EDGE:])))
    return lines[first : len(lines) - last]


def _without_running(page: list[str], running: set[str]) -> list[str]:
    filled = [at for at, line in enumerate(page) if line.strip()]
    remaining = trimmed(filled, lambda at: running_key(page[at]) in running)
    return page[remaining[0] : remaining[-1] + 1] if remaining else []


def _runs(lines: Iterable[str]) -> list[list[str]]:
    """Return the runs of lines that are not blank."""
    runs = groupby(lines, key=lambda line: bool(line.strip()))
    return [[line.rstrip() for line in run] for filled, run in runs if filled]


def _goes_on(above: Sequence[str], below: Sequence[str]) -> bool:
    """Tell whether a paragraph at the end of a page continues on the next one."""
    last, first = above[-1], below[0]
    if _ENDS.search(last) or indent_of(last) != indent_of(first) or _STARTS_ANEW.match(first):
        return False
    return first.lstrip()[0].islower() or (len(above) > 1 and len(last.strip()) > 40)


def _without_contents(paras: list[Paragraph]) -> list[Paragraph]:
    """Drop the table of contents: dot-leader lines whose labels occur elsewhere, and its heading."""
    lines = {_plain(line) for one in paras for line in one.lines}
    contents = [_is_contents(one.lines, lines) for one in paras]
    return [
        one
        for one, dropped, following in zip(paras, contents, [*contents, False][1:], strict=True)
        if not dropped and not (following and len(one.lines) == 1 and _CONTENTS.match(one.lines[0]))
    ]


def _is_contents(lines: Sequence[str], document_lines: set[str]) -> bool:
    """Tell whether half the lines have dot leaders and half their labels occur in the document."""
    entries = [match for line in lines if len(line) <= MAX_ENTRY_CHARS and (match := _LEADER.match(line))]
    elsewhere = sum(_plain(entry["label"]) in document_lines for entry in entries)
    return bool(entries) and 2 * len(entries) >= len(lines) and 2 * elsewhere >= len(entries)


def _plain(line: str) -> str:
    return " ".join(line.split()).casefold()
