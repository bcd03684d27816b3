"""Where the markers of a draft stand, and what each of them claims."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter

from graph.citing.markers import Marker, merged
from graph.citing.wording_of_claim import claim_span, clauses, is_preamble, is_short, is_yes_or_no
from graph.code_spans import code_spans, code_within
from graph.sentences import Span, sentence_spans

_CLAUSE_ENDS = re.compile(r"\s*(?:[,;:—–]|(?:and|but|while|whereas|although|though|because)\b)")
_FINISHED = (".", "!", "?", "。", "…", "！", "？")
_STUB = re.compile(r"[ \t]*(?:[-*+•]|\(?\d{1,3}[.)]|`{3,}.*|~{3,}.*|#{1,6})")
_CLOSES = re.compile(r"[*_\"”’»)\]]+(?=\s|\Z)\s*")
_OPENS_BLOCK = re.compile(r"(?::[*_]{0,3}|^\*\*[^*\n]{1,100}\*\*)(?=[ \t]*\n)", re.MULTILINE)
_GAP = re.compile(r"\n[ \t]*\n")


@dataclass(slots=True)
class Spot:
    """One place with markers, in the text without markers.

    ``claim`` is the stretch of the text it stands for: the sentence, or the clause before it where several places of
    one sentence carry markers. ``parts`` are stretches that together may be checked instead. ``guessed`` marks a place
    the model left bare (``ATTRIBUTION=verified``).
    """

    place: int
    sentence: int
    marker: Marker
    claim: Span = (0, 0)
    parts: list[Span] = field(default_factory=list)
    guessed: bool = False


@dataclass(slots=True)
class Layout:
    """A draft's text without its markers, its sentences, the places that carry markers, and where its code is."""

    text: str
    sentences: list[Span]
    spots: list[Spot]
    code: list[Span]


def lay_out(pieces: Sequence[str | Marker], *, torn: bool) -> Layout:
    """Find the sentences of a draft and what its markers stand for; with *torn*, its last sentence may be unfinished.

    A marker belongs to the sentence it stands in or after, on a new line to the one it opens; that of a heading or a
    preamble to the bare sentences below.
    """
    text, marks = _flat(pieces)
    code = code_spans(text)
    spans = _sentences(text, [place for place, _ in marks], code)
    if torn and spans and not _is_finished(text, spans[-1], marks):
        text = _without_stub(text[: spans.pop()[0]].rstrip())
        spans = [(start, min(end, len(text))) for start, end in spans if start < len(text)]
    marks = [(place, marker) for place, marker in marks if place <= len(text)]
    if not spans:
        return Layout(text, [], [], [])
    gathered: dict[tuple[int, int], list[Marker]] = {}
    for place, marker in marks:
        sentence = _sentence_at(place, spans, text)
        if place <= claim_span(text, *spans[sentence])[0] and text[place : place + 1] not in (".", "!"):
            place = spans[sentence][1]
        gathered.setdefault((sentence, place), []).append(marker)
    layout = Layout(text, spans, [], code_spans(text) if torn else code)
    placed = [(sentence, place, merged(markers)) for (sentence, place), markers in sorted(gathered.items())]
    layout.spots = [Spot(_outside(place, layout.code), i, marker) for i, place, marker in _passed_on(layout, placed)]
    _claim(layout)
    return layout


def _flat(pieces: Sequence[str | Marker]) -> tuple[str, list[tuple[int, Marker]]]:
    """The text without markers, and each marker's place in it."""
    marks: list[tuple[int, Marker]] = []
    place = 0
    for piece in pieces:
        if isinstance(piece, str):
            place += len(piece)
        else:
            marks.append((place, piece))
    return "".join(piece for piece in pieces if isinstance(piece, str)), marks


def unmarked(layout: Layout, groups: tuple[int, ...]) -> list[Spot]:
    """A guess for each sentence without a marker that states something: any of the chunks *groups* may carry it."""
    marked = {spot.sentence for spot in layout.spots}
    return [guess(layout, i, groups) for i in range(len(layout.sentences)) if i not in marked and states(layout, i)]


def guess(layout: Layout, sentence: int, groups: tuple[int, ...]) -> Spot:
    """A spot at the end of *sentence* that any of the chunks *groups* may carry."""
    start, end = layout.sentences[sentence]
    return Spot(end, sentence, Marker((groups,)), claim_span(layout.text, start, end), guessed=True)


def states(layout: Layout, sentence: int) -> bool:
    """Whether *sentence* states something that could be cited: no heading, question, preamble, code or short phrase."""
    start, end = layout.sentences[sentence]
    text = layout.text[start:end]
    code = code_within(layout.code, start, end)
    in_code = any(layout.text[begin] != "`" for begin, _ in code)
    in_fence = any(begin <= start and end <= stop for begin, stop in code)
    line = _OPENS_BLOCK.match(layout.text, start)
    heading = line is not None and line.end() == end
    return not (
        in_code or in_fence or heading or is_preamble(text) or text.rstrip("*_ ").endswith("?") or is_short(text)
    )


def _sentences(text: str, places: Sequence[int], code: Sequence[Span]) -> list[Span]:
    """Sentences of *text*; "[1]." or a line "…:" ends one; closing emphasis and quotation marks are its own."""
    node_specs = {place + 1 for place in places if text[place : place + 1] in (".", "!", "?")}
    node_specs |= {found.end() for found in _OPENS_BLOCK.finditer(text) if not code_within(code, *found.span())}
    ends = iter([*sorted(node_specs), len(text)])
    stop = next(ends)
    spans: list[Span] = []
    for start, end in sentence_spans(text):
        if spans and spans[-1][1] == start and (closing := _CLOSES.match(text, start, end)):
            spans[-1] = (spans[-1][0], start + len(closing[0].rstrip()))
            start = closing.end()
        while stop < end:
            if stop > start and text[stop].isspace():
                spans.append((start, stop))
                start = next(i for i in range(stop, end) if not text[i].isspace())
            stop = next(ends)
        if start < end:
            spans.append((start, end))
    return spans


def _without_stub(text: str) -> str:
    """*text* without its last line, where that only opens what is gone: the sign of a list, a heading, a fence."""
    line = text.rfind("\n") + 1
    return text[: max(0, line - 1)] if _STUB.fullmatch(text, line) else text


def _is_finished(text: str, span: Span, marks: Sequence[tuple[int, Marker]]) -> bool:
    """Whether a sentence ends as sentences do, or with its citation."""
    ends = text[slice(*span)].rstrip("\"'”’)]*_` ").endswith(_FINISHED)
    return ends or any(place >= span[1] for place, _ in marks)


def _sentence_at(place: int, spans: Sequence[Span], text: str) -> int:
    """The sentence a marker at *place* is on."""
    before = bisect_right(spans, place - 1, key=itemgetter(0)) - 1
    opens_line = before < 0 or "\n" in text[spans[before][1] : place]
    return min(before + 1, len(spans) - 1) if opens_line else before


def _passed_on(layout: Layout, placed: Sequence[tuple[int, int, Marker]]) -> list[tuple[int, int, Marker]]:
    """*placed*, (sentence, place, marker), with the markers of a preamble set on the bare sentences of its block.

    Where there are none, a line that ends in a colon is all that is said, and keeps them.
    """
    marked = {sentence for sentence, _, _ in placed}
    out: list[tuple[int, int, Marker]] = []
    for sentence, place, marker in placed:
        if not is_preamble(layout.text[slice(*layout.sentences[sentence])]):
            out.append((sentence, place, marker))
            continue
        followed = False
        for below in range(sentence + 1, len(layout.sentences)):
            start, end = layout.sentences[below]
            parted = below > sentence + 1 and _GAP.search(layout.text, layout.sentences[below - 1][1], start)
            if parted or is_preamble(layout.text[start:end]):
                break
            followed = True
            if below not in marked:
                out.append((below, end, marker))
                marked.add(below)
        if not followed:
            out.append((sentence, place, marker))
    return sorted(out, key=itemgetter(1))


def _outside(place: int, code: Sequence[Span]) -> int:
    """*place*, moved behind the code it would stand in."""
    return next((end for start, end in code_within(code, place, place + 1) if start < place), place)


def _claim(layout: Layout) -> None:
    """Set what each spot claims, and the parts that may be checked instead of it."""
    text, spans = layout.text, layout.sentences
    places: dict[int, list[int]] = {}
    for spot in layout.spots:
        places.setdefault(spot.sentence, []).append(spot.place)

    @cache
    def whole_of(sentence: int) -> tuple[Span, list[Span]]:
        start, end = spans[sentence]
        if is_yes_or_no(text[start:end]) and sentence + 1 < len(spans):
            return claim_span(text, start, spans[sentence + 1][1]), []
        whole = claim_span(text, start, end)
        return whole, clauses(text, *whole)

    for spot in layout.spots:
        start, end = spans[spot.sentence]
        own = places[spot.sentence]
        whole, parts = whole_of(spot.sentence)
        earlier = bisect_left(own, spot.place)
        since = max(start, own[earlier - 1]) if earlier else start
        before = claim_span(text, since, min(spot.place, end))
        short = is_short(text[slice(*before)])
        if len(own) > 1 and not short:
            spot.claim, spot.parts = before, clauses(text, *before)
        elif spot.place < end and not short and _CLAUSE_ENDS.match(text, spot.place):
            spot.claim, spot.parts = whole, [before]
        else:
            spot.claim, spot.parts = whole, list(parts)
        if spot.parts == [spot.claim]:
            spot.parts = []
