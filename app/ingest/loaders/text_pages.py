"""Split plain text into paragraphs, without page headers, page feet and the table of contents."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise, takewhile

from app.ingest.loaders.outline import indent_of
from app.ingest.loaders.running_lines import SAME_POSITION, EdgeLine, folded, note_of, running_lines
from app.ingest.loaders.text_columns import columns_apart

EDGE = 2  # lines at the top and at the bottom of a page that may be its header and its foot
MAX_ENTRY_CHARS = 200  # longest line of a table of contents
_NUMBERED_FOOT = re.compile(r"\[Page \d+\][ \t]*$", re.IGNORECASE | re.MULTILINE)
_LEADER = re.compile(r"^\s*(?P<label>\S.*?)\s*(?:\.[ \t]?){3,}\s*(?:\d+|[ivxl]+)\s*$")
CONTENTS = re.compile(r"\s*(?:table of )?contents\s*:?\s*$", re.IGNORECASE)
"""The heading of a table of contents."""
ENDS = re.compile(r"[.!?:;…][\"'”’)\]]*\s*$")
"""How a sentence ends, or what leads on."""
_SENTENCE = re.compile(r"\s*[^\W\d_a-z]\w*(?: \S+){2,}[.!?]\s*$")
_STARTS_ANEW = re.compile(r"\s*(?:[-*+•‣◦o]\s|\(?\d{1,3}(?:\.\d+)*[.)]|\(?[a-z]\)|\([ivx]{2,4}\)|\|)")


@dataclass(slots=True)
class Paragraph:
    """Adjacent lines that are not blank; ``page`` is the first one's, from 1, None without pages."""

    lines: list[str]
    page: int | None

    @property
    def indent(self) -> int:
        """Columns before the first line."""
        return indent_of(self.lines[0])


def paragraphs(text: str) -> tuple[list[Paragraph], list[str]]:
    """Return the paragraphs of ``text``, and notes on what was left out; form feeds or ``[Page 5]`` end its pages.

    Left out are page headers and page feet that blank lines part from the text, and a table of contents whose entries
    recur as lines. A paragraph that a page break cut is one, and stands on the page where it begins.
    """
    if "\f" not in text and len(_NUMBERED_FOOT.findall(text)) >= 3:
        text = _NUMBERED_FOOT.sub("\\g<0>\f", text)
    pages = [page.split("\n") for page in text.split("\f")]
    recurring = running_lines([line for number, page in enumerate(pages) for line in _edges(number, page)], len(pages))
    dropped: list[str] = []
    paras: list[Paragraph] = []
    for number, page in enumerate(pages, 1):
        kept = columns_apart(_without_running(number - 1, page, recurring, dropped))
        runs = [list(run) for filled, run in groupby(map(str.rstrip, kept), key=bool) if filled]
        for at, lines in enumerate(runs):
            if at == 0 and paras and _goes_on(paras[-1].lines, lines):
                paras[-1].lines.extend(lines)
            else:
                paras.append(Paragraph(lines, number if len(pages) > 1 else None))
    return _without_contents(paras), note_of(dropped)


def _edges(number: int, page: Sequence[str]) -> list[EdgeLine]:
    """Return the first and the last lines of a page, without sentences, as far as a blank line follows inwards."""
    found: list[EdgeLine] = []
    for at_top, lines in (True, page), (False, page[::-1]):
        filled = [(at, line.strip()) for at, line in enumerate(lines) if line.strip()][: EDGE + 1]
        apart = [row for row, ((at, _), (below, _)) in enumerate(pairwise(filled)) if below > at + 1]
        edge = [line for _, line in filled[: max(apart) + 1]] if apart else []
        lines_of_edge = takewhile(lambda line: not _SENTENCE.match(line), edge)
        apart_by = SAME_POSITION + 1
        found += [EdgeLine(number, at_top, row, row * apart_by, line) for row, line in enumerate(lines_of_edge)]
    return found


def _without_running(number: int, page: list[str], recurring: Collection[EdgeLine], dropped: list[str]) -> list[str]:
    """Return a page without its running lines, which are added to *dropped*."""
    edges = _edges(number, page)
    top, bottom = ([line for line in edges if line.at_top is at_top] for at_top in (True, False))
    first, last = (list(takewhile(recurring.__contains__, edge)) for edge in (top, bottom))
    dropped += [line.text for line in (*first, *last)]
    filled = [at for at, line in enumerate(page) if line.strip()]
    remaining = filled[len(first) : len(filled) - len(last)]
    return page[remaining[0] : remaining[-1] + 1] if remaining else []


def _goes_on(above: Sequence[str], below: Sequence[str]) -> bool:
    """Tell whether a paragraph at the end of a page continues on the next one."""
    last, first = above[-1], below[0]
    if ENDS.search(last) or indent_of(last) != indent_of(first) or _STARTS_ANEW.match(first):
        return False
    return first.lstrip()[0].islower() or (len(above) > 1 and len(last.strip()) > 40)


def _without_contents(paras: list[Paragraph]) -> list[Paragraph]:
    """Drop the table of contents: dot-leader lines whose labels occur elsewhere, and its heading."""
    lines = {folded(line) for para in paras for line in para.lines}
    contents = [_is_contents(para.lines, lines) for para in paras]
    return [
        para
        for para, dropped, following in zip(paras, contents, [*contents, False][1:], strict=True)
        if not dropped and not (following and len(para.lines) == 1 and CONTENTS.match(para.lines[0]))
    ]


def _is_contents(lines: Sequence[str], document_lines: set[str]) -> bool:
    """Tell whether half the lines have dot leaders and half their labels occur in the document."""
    entries = [match for line in lines if len(line) <= MAX_ENTRY_CHARS and (match := _LEADER.match(line))]
    elsewhere = sum(folded(entry["label"]) in document_lines for entry in entries)
    return bool(entries) and 2 * len(entries) >= len(lines) and 2 * elsewhere >= len(entries)
