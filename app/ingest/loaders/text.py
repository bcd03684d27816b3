"""Load plain text: paragraphs, lists, aligned lines, clear headings; form feeds are page breaks."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from textwrap import dedent

from app.ingest.documents import Kind, LoadedDocument
from app.ingest.loaders.outline import Outline, grouped, indent_of
from app.ingest.loaders.text_encoding import decode
from app.ingest.loaders.text_lines import LED, joined_lines, led_entries
from app.ingest.loaders.text_pages import Paragraph, paragraphs

UNDERLINE = re.compile(r"\s*([=\-~^*#])\1{2,}\s*$")
_MARKED = re.compile(r"\s*(=+|#{2,})\s+([^\s=#].*?)\s+\1\s*")
"""A heading between marks: "=== Meeting of 13 May ===", as wikis write it too."""
ALIGNED = re.compile(r"\S(?: {3,}|\t)\S|^\s*\|.*\|\s*$")
MAX_HEADING_CHARS = 70
MAX_HEADING_WORDS = 10
TITLE_AMONG = 12  # paragraphs at the head of a text among which its centred title may stand
CENTRED_FROM = 8  # columns before a centred title, at the least
_NUMBER = re.compile(r"(?:(?:appendix|annex|chapter|section|part)\s+)?(?P<number>\d+|[A-Z](?=\.))(?P<rest>(?:\.\d+)*)")
_NUMBERED = re.compile(rf"{_NUMBER.pattern}(?:\.|:)?\s+(?P<words>\S.*)$", re.IGNORECASE)
_CHAPTER = re.compile(r"(\d{1,2})\.?\s+\S")
_LEVELS = {"=": 1, "-": 2, "#": 1}
_ITEM = re.compile(r"\s*(?:[-*+•‣◦]|\(?\d{1,3}[.)]|\(?[a-z]\)|\([ivx]{2,4}\))\s+\S")
_MARKER = re.compile(r"^\s*(?:[-*+•‣◦o]|\(?\d{1,3}[.)]|\(?[a-z]\)|\([ivx]{2,4}\))\s+")
_LETTER_BULLET = re.compile(r"^(\s*)o {2,}(?=\S)")
_LABEL = re.compile(r"\s*[A-Z][\w/-]*(?: [\w/-]+){0,3}: +\S")
FULL_LINE = 60  # columns that a line of wrapped text reaches in a text with a margin


def load(data: bytes, source: str) -> LoadedDocument:
    """Read a plain text file, titled by its centred title line, first heading or file name.

    Raises ``Unreadable`` for binary data.
    """
    outline = Outline()
    add_text(outline, decode(data))
    return outline.document(source)


def add_text(outline: Outline, text: str, *, headings: bool = True) -> None:
    """Add plain ``text`` to ``outline``, with *headings* looked for; form feeds count pages from 1."""
    paras, notes = paragraphs(text)
    paras = [Paragraph(part, para.page) for para in paras for part in _chapters(para.lines)] if headings else paras
    outline.notes += notes
    margin = text_margin(paras) if headings else 0
    levels = heading_levels(paras, margin) if headings else {}
    width = min(max((len(line) for para in paras for line in para.lines), default=0), 80)
    for at, para in enumerate(paras):
        if level := levels.get(at):
            outline.heading(level, " ".join(para.lines), para.page)
        elif rest := _after_ruled(outline, para.lines, para.page) if headings else para.lines:
            if headings and not margin and (level := _level_above(rest, width)):
                outline.heading(level, rest[0], para.page)
                rest = dedent("\n".join(rest[1:])).split("\n")
            if entries := led_entries(rest):
                outline.add(entries, "list", page=para.page)
                continue
            for run in _runs(rest, margin, width):
                outline.add(*_reflowed(run, margin), page=para.page)


def _chapters(lines: list[str]) -> Iterator[list[str]]:
    """Yield the lines of a paragraph in parts: a chapter's heading ("2. Use") stands apart from its clauses ("2.1")."""
    start = 0
    for at, (line, below) in enumerate(pairwise(lines)):
        if _is_chapter(line, below):
            yield from filter(None, (lines[start:at], [line]))
            start = at + 1
    yield lines[start:]


def _is_chapter(line: str, below: str) -> bool:
    number = _CHAPTER.match(line)
    return number is not None and reads_as_heading(line) and below.startswith(f"{number[1]}.1 ")


def _after_ruled(outline: Outline, lines: list[str], page: int | None) -> list[str]:
    """Open the heading a paragraph starts with, underlined or between marks, if any; return the other lines."""
    if marked := _MARKED.fullmatch(lines[0]):
        outline.heading(len(marked[1]), marked[2], page)
        return lines[1:]
    if len(lines) >= 3 and UNDERLINE.match(lines[0]) and UNDERLINE.match(lines[2]):
        lines = lines[1:]  # ruled above and below
    if len(lines) >= 2 and (rule := UNDERLINE.match(lines[1])) and not UNDERLINE.match(lines[0]):
        outline.heading(_LEVELS.get(rule.group(1), 3), lines[0], page)
        return lines[2:]
    return lines


def _level_above(lines: Sequence[str], width: int) -> int:
    """Return the level of the heading that *lines* begin with, above text that is indented below it; 0 without one.

    As in minutes ("2. Roof") and price lists ("TICKETS"): a short line with a number or in capitals.
    """
    first, *below = lines
    indented = bool(below) and all(indent_of(line) > indent_of(first) == 0 for line in below)
    if not indented or not below[0].lstrip()[0].isupper() or not reads_as_heading(first):
        return 0
    if LED.match(below[0]):
        return 2
    numbered = _NUMBERED.match(first)
    if 2 * len(first) > width or not (numbered or first.isupper()):
        return 0
    return 2 + numbered["rest"].count(".") if numbered else 2


def _runs(lines: list[str], margin: int, width: int) -> Iterator[list[str]]:
    """Yield runs of wrapped lines: one far shorter than ``width``, or "Label: value" above another, ends its run."""
    kept = width < FULL_LINE or indent_of(lines[0]) > margin or any(ALIGNED.search(line.strip()) for line in lines)
    start = 0
    for at, (line, below) in enumerate(pairwise([] if kept else lines), 1):
        short = len(line) < width // 2 and not below.lstrip()[0].islower() and line[-1] != "-"
        ends = short or (_LABEL.match(line) and _LABEL.match(below))
        if ends and indent_of(below) <= margin and not _ITEM.match(below):
            yield lines[start:at]
            start = at
    yield lines[start:]


def _reflowed(lines: list[str], margin: int) -> tuple[str, Kind]:
    """Join a wrapped paragraph to one line, list items to one each; keep aligned columns.

    So do lines indented deeper than a text that has a margin, where none of them is full: an example, a grammar.
    """
    if any(ALIGNED.search(_MARKER.sub("", line).strip()) for line in lines):
        return "\n".join(lines), "list"
    lines = [_LETTER_BULLET.sub(r"\1- ", line) for line in lines]
    if not any(map(_ITEM.match, lines)):
        return ("\n".join(lines), "list") if margin and _is_set_apart(lines, margin) else (joined_lines(lines), "prose")
    items = grouped(lines, lambda _item, line: not _ITEM.match(line))
    return "\n".join(item[0][: indent_of(item[0])] + joined_lines(item) for item in items), "list"


def _is_set_apart(lines: list[str], margin: int) -> bool:
    """Tell whether lines are indented beyond the margin and most of them are short."""
    short = sum(len(line) < FULL_LINE for line in lines[:-1])
    return len(lines) > 1 and all(indent_of(line) >= margin + 2 for line in lines) and 2 * short >= len(lines) - 1


def text_margin(paras: Sequence[Paragraph]) -> int:
    """Return the indent that most paragraphs share where headings stand left of them, else 0."""
    indents = Counter(para.indent for para in paras if len(para.lines) > 1)
    margin, count = indents.most_common(1)[0] if indents else (0, 0)
    outside = any(para.indent == 0 and len(para.lines) == 1 for para in paras)
    return margin if 2 <= margin < CENTRED_FROM and count >= 3 and outside else 0


def heading_levels(paras: Sequence[Paragraph], margin: int) -> dict[int, int]:
    """Return the heading levels by paragraph: 1 for the title, 2 and below for sections."""
    title = _centred_title(paras, margin)
    numbered = {at: depth + 1 for at, para in enumerate(paras) if (depth := _depth(para, margin))}
    for at, (para, below) in enumerate(pairwise(paras)):
        if len(para.lines) == 1 and _is_chapter(para.lines[0], below.lines[0]):
            numbered[at] = 2
    single = {at for at, para in enumerate(paras) if len(para.lines) == 1 and (not margin or para.indent == 0)}
    alone = [at in numbered or (at in single and reads_as_heading(para.lines[0])) for at, para in enumerate(paras)]
    opening = {0} if title is None and len(alone) > 1 and alone[0] else set()
    listed = [False, *(is_alone and at not in opening | numbered.keys() for at, is_alone in enumerate(alone)), False]
    short = {at for at in range(len(alone) - 1) if listed[at : at + 3] == [False, True, False]}
    return dict.fromkeys(short, 2) | numbered | dict.fromkeys(opening if title is None else {title}, 1)


def reads_as_heading(line: str) -> bool:
    """Tell whether a separate line is short, starts like a title and lacks end punctuation."""
    line = line.strip()
    return (
        len(line) <= MAX_HEADING_CHARS
        and len(line.split()) <= MAX_HEADING_WORDS
        and (line[0].isupper() or line[0].isdigit())
        and line[-1] not in ".!?;:,"
        and any(sign.isalpha() for sign in line)
        and not ALIGNED.search(line)
    )


def _centred_title(paras: Sequence[Paragraph], margin: int) -> int | None:
    """Return the index of a centred title among the first paragraphs, if any."""
    if not margin:
        return None
    width = max((len(line) for para in paras[:100] for line in para.lines), default=0)
    for at, para in enumerate(paras[:TITLE_AMONG]):
        if len(para.lines) <= 3 and all(_is_centred(line, min(width, 80)) for line in para.lines):
            return at
    return None


def _is_centred(line: str, width: int) -> bool:
    middle = indent_of(line) + len(line.strip()) / 2
    return (
        indent_of(line) >= CENTRED_FROM
        and abs(middle - width / 2) <= width / 12
        and any(map(str.isalpha, line))
        and not ALIGNED.search(line.strip())
    )


def _depth(para: Paragraph, margin: int) -> int:
    """Count the numbers of a numbered heading (5.2 has two); 0 for other paragraphs.

    In a text without a margin one number may as well open an item, so there two are asked for.
    """
    match = _NUMBERED.match(para.lines[0])
    if match is None or para.indent > 0 or any(indent_of(line) == 0 for line in para.lines[1:]):
        return 0
    words = " ".join([match.group("words"), *(line.strip() for line in para.lines[1:])])
    depth = 1 + match.group("rest").count(".")
    is_title = len(words) <= MAX_HEADING_CHARS and words[0].isalnum() and words[-1] not in ".!?;,:"
    return depth if is_title and not ALIGNED.search(words) and (margin or depth > 1) else 0
