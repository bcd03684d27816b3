"""Where the sentences of a text are: block structure first, then prose by `sentencex`."""

import re
from collections.abc import Iterator
from itertools import takewhile

import sentencex

Span = tuple[int, int]
"""Half-open character offsets ``(start, end)`` into a text, in Unicode code points."""

_LONG = 300
_VERY_LONG, _WINDOW = 10_000, 5_000
_WITHOUT_QUOTES = str.maketrans(dict.fromkeys('"“”„«»', " "))
_WITHOUT_PAIRS = str.maketrans(dict.fromkeys("\"'`“”„«»‹›‘’「」『』【】", " "))

_FENCE = re.compile(r"[ \t]{0,3}(```|~~~)")
_BULLET = re.compile(r"[ \t]*(?:[-*+•‣◦]|\(?[a-z]\))[ \t]+(?=\S)")
_NUMBER = re.compile(r"[ \t]*\(?(\d{1,3})[.)][ \t]+(?=\S)")
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+\S")
_RULE = re.compile(r"[-=_*+|: \t]{3,}$")


def sentence_spans(text: str) -> tuple[Span, ...]:
    """Offsets of the sentences of *text*: ordered, disjoint, stripped of white space and never empty.

    A list item, a table row, a heading and a block of code each end where their line or block ends; prose inside
    them is split like any other prose. Markers of lists and rules between rows belong to no sentence. Total: any
    string has a result, a blank one ``()``.
    """
    spans: list[Span] = []
    for start, end, prose in _blocks(text):
        spans.extend(_prose(text, start, end) if prose else _stripped(text, start, end))
    return tuple(spans)


def _blocks(text: str) -> Iterator[tuple[int, int, bool]]:
    """Blocks of *text* as (start, end, is prose); what lies between them holds nothing to quote."""
    start = end = 0  # the open paragraph or list item
    listed = False  # whether it is a list item
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
        elif item := _list_marker(bare, listed or start == end):
            yield start, end, True
            start, end, listed = begin + item.end(), stop, True
        else:
            if start == end:
                start, listed = begin, False
            end = stop
    yield (start, end, True) if code is None else (code, len(text), False)


def _is_table_row(line: str) -> bool:
    """Whether *line* stands between bars, or ends in cells behind tabs: two or more, none of them empty."""
    inner = line.strip(" \t")
    if len(inner) > 1 and inner[0] == inner[-1] == "|":
        return True
    cells = line.split("\t")
    filled = sum(1 for _ in takewhile(bool, reversed(cells)))
    first = max(len(cells) - filled, 1)
    return len(cells) - first >= 2 and not any("|" in cell for cell in cells[:first])


def _list_marker(line: str, listed: bool) -> re.Match[str] | None:
    """The marker *line* opens with, if it opens a list item.

    As in CommonMark, a number other than 1 cannot interrupt a paragraph: the line may just continue "he was / 38."
    """
    number = _NUMBER.match(line)
    if number and (listed or number.group(1) == "1"):
        return number
    return _BULLET.match(line)


def _prose(text: str, start: int, end: int) -> Iterator[Span]:
    """Sentences of the prose at *start*:*end*."""
    for begin, stop in _segments(text[start:end], start):
        if stop - begin > _LONG:  # a quotation kept whole: look inside, with its quotation marks out of sight
            unquoted = text[begin:stop].translate(_WITHOUT_QUOTES)
            for inner, outer in _segments(unquoted, begin):
                yield from _stripped(text, inner, outer)
        else:
            yield from _stripped(text, begin, stop)


def _segments(prose: str, position: int) -> Iterator[Span]:
    """What `sentencex` makes of *prose*, whose first character stands at *position*.

    It takes the square of the length where there are quotation marks, and less than that where there are many
    sentences. So of a very long text the marks are put out of sight, and it is read in windows, each from where the
    last sentence of the one before it begins; a window without a sentence's end is made wider.
    """
    whole = len(prose) <= _VERY_LONG
    if not whole:
        prose = prose.translate(_WITHOUT_PAIRS)
    window = _VERY_LONG if whole else _WINDOW
    while prose:
        sentences = list(sentencex.segment("en", prose[:window]))
        if window < len(prose):
            if len(sentences) == 1:
                window *= 2
                continue
            sentences.pop()  # it may go on
            window = _WINDOW
        for sentence in sentences:
            yield position, position + len(sentence)
            position += len(sentence)
        prose = prose[sum(map(len, sentences)) :]


def _stripped(text: str, start: int, end: int) -> Iterator[Span]:
    """The span without the white space at its edges, or nothing when that is all it holds."""
    piece = text[start:end]
    left = len(piece) - len(piece.lstrip())
    right = len(piece.rstrip())
    if left < right:
        yield start + left, start + right
