"""Tell page headers, page feet and page numbers from the text of a page."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from app.ingest.loaders.outline import grouped, one_line

MIN_PAGES = 3  # fewest pages that show that a line recurs
SAME_POSITION = 3.0
"""Largest difference of two positions that count as the same."""
SHOWN, MAX_SHOWN_CHARS = 3, 60
"""Most lines named in a note, and their longest part."""
_PAGE = "page p pg seite s página pagina pág pag sida side sivu oldal strona str sayfa blz стр страница 第 頁 页 ページ"
_NAMED = re.compile(rf"(?<![^\W_])(?:{'|'.join(_PAGE.split())})[ .:#]*(\d{{1,5}}|[ivxlc]+)(?![^\W_])", re.IGNORECASE)
_OF_ALL = re.compile(r"^\W*(\d{1,5})\s?(?:/|of|von|de|di|van|av|iz|из)\s?(\d{1,5})\W*$", re.IGNORECASE)
_ALONE = (
    re.compile(r"^[-–—|·~\s]*(\d{1,5}|[ivxlc]+)[-–—|·~\s]*$", re.IGNORECASE),  # 3, - 3 -, iv
    re.compile(r"^\W*(?:[A-Za-z]{1,2}|\d{1,2})\s?[-–—.]\s?(\d{1,4})\W*$"),  # A-3, 2-17
)
_SENTENCE = re.compile(r"[.!?…][\"'”’)\]]*\s*$")
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_NUMBER = re.compile(r"\W*(?:[^\W\d]+\W*)?\d*\W*(?:[^\W\d]{1,3}\W*\d*)?\W*")


class EdgeLine(NamedTuple):
    """A line among the first or last rows of a page; ``page`` counts from 0, ``row`` from that edge inwards.

    ``position`` is its distance from the edge in the caller's unit. ``in_margin``: it is where headers and feet are.
    ``of_text``: it is set like the text.
    """

    page: int
    at_top: bool
    row: int
    position: float
    text: str
    in_margin: bool = True
    of_text: bool = False


def running_lines(lines: Sequence[EdgeLine], pages: int) -> set[EdgeLine]:
    """Return the lines that recur: page numbers in sequence, and the same text at the same position.

    A number that counts with the pages is a page number where it stands alone or after a word for "page"; in any other
    line it is content, as is a line set like the text where other pages have another text, or on the first page.
    Of two pages, a line of both that is no sentence is content on the first, a foot on the second.
    """
    numbers = _page_numbers(lines, pages)
    beside = {(line.page, line.at_top, line.row) for line in numbers}
    texts: dict[tuple[bool, str], list[EdgeLine]] = defaultdict(list)
    for line in lines:
        if line.in_margin and line not in numbers:
            texts[line.at_top, folded(line.text)].append(line)
    others = [line for line in lines if line.of_text and line.in_margin and line not in numbers]
    found = set(numbers)
    for same in (group for lines in texts.values() for group in _same_position(lines)):
        here = {line.page for line in same}
        of_text = same[0].of_text and not all((line.page, line.at_top, line.row) in beside for line in same)
        if of_text and any(line.page not in here and _is_at(line, same[0]) for line in others):
            continue
        both = pages == len(here) == 2 and not _SENTENCE.search(same[0].text)
        follow = all(later - earlier <= 2 for earlier, later in pairwise(sorted(here)))  # or are all even, or all odd
        if both or (len(here) >= MIN_PAGES and (2 * len(here) >= pages or (follow and not of_text))):
            stays = max(here) if both and not same[0].at_top else 0  # a foot amid a text would part its sentence
            found |= {line for line in same if line.page != stays or not (of_text or both)}
    return found


def note_of(dropped: Sequence[str]) -> list[str]:
    """Return a note that says how many lines were left out, and some of them; none for no line."""
    if not dropped:
        return []
    different = list({re.sub(r"\d+", "#", text): text for text in reversed(dropped)}.values())[::-1]
    some = ", ".join(f"“{one_line(text, MAX_SHOWN_CHARS)}”" for text in different[:SHOWN])
    return [f"page headers, page feet and page numbers left out: {len(dropped)} ({some})"]


def _page_numbers(lines: Iterable[EdgeLine], pages: int) -> set[EdgeLine]:
    """Return the lines whose number counts with the pages, on three of them, or on each of one or two."""
    counted: dict[tuple[str, int], list[EdgeLine]] = defaultdict(list)
    rows = Counter((line.page, line.at_top, line.row) for line in lines)
    for line in lines:
        if number := _page_number(line, pages):
            text, offset = number[0], number[1] - line.page
            alone_below = not line.at_top and rows[line.page, line.at_top, line.row] == 1
            is_record = line.of_text and offset > 1 and not alone_below and not _NAMED.search(line.text)
            if not is_record:
                counted[text, offset].append(line)
    found: set[EdgeLine] = set()
    for (_, offset), same in counted.items():
        here = {line.page for line in same}
        if (len(here) >= MIN_PAGES) if pages >= MIN_PAGES else (offset == 1 and len(here) == pages):
            found |= set(same)
    return found


def _page_number(line: EdgeLine, pages: int) -> tuple[str, int] | None:
    """Return a line with its page number as ``#``, and the number; None without one."""
    found = _NAMED.search(line.text)
    if not found and (of_all := _OF_ALL.search(line.text)) and int(of_all[2]) >= pages:
        found = of_all
    if not found and line.in_margin:
        found = next(filter(None, (pattern.search(line.text) for pattern in _ALONE)), None)
    if not found:
        return None
    digits = found[1].casefold()
    rest = f"{line.text[: found.start(1)]}#{line.text[found.end(1) :]}"
    return folded(rest), int(digits) if digits.isdecimal() else _roman(digits)


def _roman(digits: str) -> int:
    values = [_ROMAN[digit] for digit in digits]
    return sum(-n if n < following else n for n, following in zip(values, [*values[1:], 0], strict=True))


def folded(text: str) -> str:
    """Return a line by which lines are compared, whatever their case and white space."""
    return " ".join(text.split()).casefold()


def _same_position(lines: Iterable[EdgeLine]) -> list[list[EdgeLine]]:
    return grouped(sorted(lines, key=lambda line: line.position), lambda same, line: _is_at(line, same[0]))


def _is_at(one: EdgeLine, other: EdgeLine) -> bool:
    return one.at_top == other.at_top and abs(one.position - other.position) <= SAME_POSITION


def is_page_number(text: str) -> bool:
    """Tell whether a text with a field for the page is nothing more: ``7``, ``Page 7``, ``Page 7 of 12``."""
    return bool(_NUMBER.fullmatch(text))
