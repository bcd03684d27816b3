"""Split a text into sentences (blocks first, then prose by `sentencex`); find its code, or a sentence in it."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Container, Iterator, Sequence
from itertools import pairwise
from operator import itemgetter

import sentencex

from answering.text.sentence_ends import CUT, GOES_ON, NOTE_MARKS, SMALL_AFTER, SMALL_FIRST

Span = tuple[int, int]
"""Half-open character offsets ``(start, end)`` into a text, in Unicode code points."""
_LONG = 300
_VERY_LONG = 10_000
_PIECE = re.compile(r".{5000}.*?[.!?]\s|.+", re.DOTALL)
_WITHOUT_QUOTES = str.maketrans(dict.fromkeys('"“”„«»', " "))
_WITHOUT_PAIRS = str.maketrans(dict.fromkeys("\"'`“”„«»‹›‘’「」『』【】", " "))

_UNIT_ENDS = re.compile(r"(?:\d\s?|/)[A-Za-z]\.(?=\s+[A-Z])")
"""A unit of one letter at the end of a sentence, taken for the initial of a name: "runs at 500 Mbit/s. The …"."""
_FENCE = re.compile(r"[ \t]{0,3}(```|~~~)")
_BULLET = re.compile(r"[ \t]*(?:(?:[-*+•‣◦]|\(?[a-z]\))[ \t]+(?=\S)|(?=\([ivx]{2,4}\)[ \t]+\S))")
"""What opens an item; a Roman number of several letters belongs to its sentence."""
_NUMBER = re.compile(r"^[ \t]*\(?(\d{1,3})[.)][ \t]+(?=\S)", re.MULTILINE)
_FIRST_NUMBERS = 9
"""Up to this number a line may open an item without others: a chunk may begin within a list. "64. Beyond …" is none."""
LABELLED = re.compile(r"\s*[A-Z][\w/-]*(?: [\w/(),&-]+){0,5}: +\S")
"""A line "Label: value", "Urgent (leak, lock): 2 days", which below another one is a sentence of its own."""
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+\S")
_RULE = re.compile(r"[-=_*+|: \t]{3,}$")

_CODE_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})([^\n]*)")
_INSIDE = r"(?=(?P<inside{0}>(?:[^`\n]|(?!`{{{0}}}(?!`))`+(?!`))+))(?P=inside{0})"  # matched once, as by ``++``
_INLINE = re.compile("|".join(rf"(?<!`)`{{{n}}}(?!`){_INSIDE.format(n)}`{{{n}}}(?!`)" for n in (1, 2, 3)))
"""One to three backticks, closed on the same line by the next run of the same length."""


def sentence_spans(text: str) -> tuple[Span, ...]:
    """Return the offsets of the sentences of *text*: ordered, disjoint, stripped and never empty.

    List items, table rows, headings, labelled lines and blocks of code end with their line or block; prose in them is
    split as well.
    List markers and rules between rows belong to no sentence.
    """
    spans: list[Span] = []
    for start, end, prose in _blocks(text):
        spans.extend(_prose(text, start, end) if prose else _stripped(text, start, end))
    return tuple(spans)


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Yield the blocks of *text* as (start, end, is prose)."""
    start = end = 0  # the open paragraph or list item
    listed = False  # whether it is a list item
    above = ""
    numbers = {int(number) for number in _NUMBER.findall(text)}
    code: int | None = None  # where the open fenced block's content starts
    for match in re.finditer(r"[^\r\n]*(?:\r\n|\r|\n|$)", text):
        line, begin, stop = match.group(), match.start(), match.end()
        if code is not None:
            if _FENCE.match(line):
                yield code, begin, False
                code, start, end = None, stop, stop
            continue
        bare = line.rstrip("\r\n")
        if _FENCE.match(line):
            yield start, end, True
            code = stop
        elif not bare.strip() or _RULE.match(bare):
            yield start, end, True
            start = end = stop
        elif _HEADING.match(bare) or _is_table_row(bare):
            yield start, end, True
            yield begin, stop, False
            start = end = stop
        elif item := _list_marker(bare, listed or start == end, numbers):
            yield start, end, True
            start, end, listed = begin + item.end(), stop, True
        elif start != end and LABELLED.match(bare) and LABELLED.match(above):
            yield start, end, True
            start, end = begin, stop
        else:
            if start == end:
                start, listed = begin, listed and bare.startswith("  ")  # what is indented goes on with its item
            end = stop
        above = bare
    yield (start, end, True) if code is None else (code, len(text), False)


def _is_table_row(line: str) -> bool:
    """Whether *line* is between bars, or has two filled tab-separated cells after the first."""
    inner = line.strip(" \t")
    cells = line.split("\t")
    return (len(inner) > 1 and inner[0] == inner[-1] == "|") or sum(map(bool, cells[1:])) >= 2


def _list_marker(line: str, listed: bool, numbers: Container[int]) -> re.Match[str] | None:
    """Match the marker *line* opens with, if it opens a list item; *numbers* open lines of the text.

    As in CommonMark, a number other than 1 cannot interrupt a paragraph: the line may continue "he was / 38."
    """
    if number := _NUMBER.match(line):
        at = int(number[1])
        if (listed or at == 1) and (at <= _FIRST_NUMBERS or at - 1 in numbers or at + 1 in numbers):
            return number
    return _BULLET.match(line)


_NARROW = dict.fromkeys((code for code in range(0x80, 0x3001) if chr(code).isspace()), " ") | {ord(CUT): " "}
"""White space of more than one byte, for which `sentencex` panics in some places, and the mark of a cut."""


def _prose(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the sentences of the prose at *start*:*end*."""
    for begin, stop in _segments(text[start:end], start):
        if stop - begin > _LONG:  # a quotation kept whole: look inside, with its quotation marks out of sight
            unquoted = text[begin:stop].translate(_WITHOUT_QUOTES)
            for inner, outer in _segments(unquoted, begin):
                yield from _stripped(text, inner, outer)
        else:
            yield from _stripped(text, begin, stop)


def _segments(prose: str, position: int) -> Iterator[Span]:
    """Yield the sentences that `sentencex` finds in *prose*, which starts at *position*.

    What it cuts after an abbreviation, or within code, goes on; note marks stay with their sentence. With quotation
    marks its time is quadratic, so a very long text is read without them, in pieces of sentences.
    """
    first = position
    code = [match.span() for match in _INLINE.finditer(prose)] if "`" in prose else []
    for piece in [prose] if len(prose) <= _VERY_LONG else _PIECE.findall(prose.translate(_WITHOUT_PAIRS)):
        begin = position
        found = CUT.join(sentencex.segment("en", piece.translate(_NARROW)))
        for sentence, following in pairwise([*NOTE_MARKS.sub(rf"\1{CUT}", found).split(CUT), ""]):
            position += len(sentence)
            cut = f"{sentence}{CUT}{following}"
            goes_on = GOES_ON.search(cut) or (SMALL_AFTER.search(cut) and not SMALL_FIRST.match(prose, begin - first))
            if not following or not (goes_on or code_within(code, position - first, position - first)):
                for end in [*(unit.end() for unit in _UNIT_ENDS.finditer(prose, begin - first, position - first))]:
                    yield begin, first + end
                    begin = first + end
                yield begin, position
                begin = position


def _stripped(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the span without surrounding white space; nothing if it is blank."""
    if piece := text[start:end].strip():
        left = start + len(text[start:end]) - len(text[start:end].lstrip())
        yield left, left + len(piece)


def code_spans(text: str) -> list[Span]:
    """Return the (start, end) of the code in *text*, ordered, disjoint, in linear time.

    A fence that is never closed holds the rest of the text, as in CommonMark; inline code ends on its own line.
    """
    if "`" not in text and "~~~" not in text:
        return []
    spans: list[Span] = []
    opened: tuple[int, str] | None = None
    start = 0
    for line in text.split("\n"):
        end = min(start + len(line) + 1, len(text))
        fence = _CODE_FENCE.match(line)
        if opened is not None:
            if fence and fence[1].startswith(opened[1]) and not fence[2].strip():
                spans.append((opened[0], end))
                opened = None
        elif fence and "`" not in fence[2]:
            opened = (start, fence[1])
        else:
            spans.extend((start + match.start(), start + match.end()) for match in _INLINE.finditer(line))
        start = end
    return spans if opened is None else [*spans, (opened[0], len(text))]


def replace_code(text: str, write: Callable[[str], str]) -> str:
    """Return *text* with each piece of its code as *write* gives it."""
    out: list[str] = []
    done = 0
    for start, end in code_spans(text):
        out += [text[done:start], write(text[start:end])]
        done = end
    return "".join([*out, text[done:]])


def code_within(code: Sequence[Span], start: int, end: int) -> Sequence[Span]:
    """Return those of the ordered, disjoint spans *code* that overlap *start*:*end*."""
    return code[bisect_right(code, start, key=itemgetter(1)) : bisect_left(code, end, key=itemgetter(0))]


def capitalised(text: str) -> str:
    """Return *text* with a capital first letter, unless its first word is code ("typer.run")."""
    return text[:1].upper() + text[1:] if re.match(r"[a-z]+\b(?![.(_/@])", text) else text


def is_question(text: str) -> bool:
    """Whether *text* ends with a question mark, inside quotation marks or emphasis too."""
    return text.rstrip('*_ "”)」』）').endswith(("?", "？", "؟"))
