"""Where the markers of a draft stand, and what each of them claims."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from operator import itemgetter

from graph.citing.clauses import LEAST_WORDS, claim_span, clauses
from graph.citing.code_spans import code_spans, code_within
from graph.citing.markers import Marker, merged
from graph.citing.mending import tidy
from graph.sentences import Span, sentence_spans
from graph.terms import stems

_CLAUSE_ENDS = re.compile(r"\s*(?:[,;:—–]|(?:and|but|while|whereas|although|though|because)\b)")
_FINISHED = (".", "!", "?", "。", "…", "！", "？")
_STUB = re.compile(r"[ \t]*(?:[-*+•]|\(?\d{1,3}[.)]|`{3,}.*|~{3,}.*|#{1,6})")


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

    A marker belongs to the sentence it stands in or after, on a new line to the one it opens, and where a line opens
    with a marker and does not end with one, to the sentence after it.
    """
    text, marks = flatten(pieces)
    spans = list(sentence_spans(text))
    if torn and spans and not _is_finished(text, spans[-1], marks):
        text = _without_stub(text[: spans.pop()[0]].rstrip())
        spans = [(start, min(end, len(text))) for start, end in spans if start < len(text)]
    marks = [(place, marker) for place, marker in marks if place <= len(text)]
    if not spans:
        return Layout(text, [], [], [])
    leading = _lines_led_by_markers(text, spans, [place for place, _ in marks])
    gathered: dict[tuple[int, int], list[Marker]] = {}
    for place, marker in marks:
        sentence = _sentence_at(place, spans, text, text.rfind("\n", 0, place) in leading)
        if place <= spans[sentence][0]:
            place = spans[sentence][1]
        gathered.setdefault((place, sentence), []).append(marker)
    code = code_spans(text)
    spots = [
        Spot(_outside(place, code), sentence, merged(markers))
        for (place, sentence), markers in sorted(gathered.items(), key=lambda item: item[0])
    ]
    _claim(spots, spans, text)
    return Layout(text, spans, spots, code)


def flatten(pieces: Sequence[str | Marker]) -> tuple[str, list[tuple[int, Marker]]]:
    """The text without markers, white space around them mended, and each marker's place in it."""
    kept = tidy([piece if isinstance(piece, str) else None for piece in pieces])
    marks: list[tuple[int, Marker]] = []
    strings = iter(kept)
    place = 0
    for piece in pieces:
        if isinstance(piece, str):
            place += len(next(strings))
        else:
            marks.append((place, piece))
    return "".join(kept), marks


def unmarked(layout: Layout, groups: tuple[int, ...]) -> list[Spot]:
    """A guess for each sentence without a marker that states something: any of the chunks *groups* may carry it."""
    marked = {spot.sentence for spot in layout.spots}
    return [guess(layout, i, groups) for i in range(len(layout.sentences)) if i not in marked and states(layout, i)]


def guess(layout: Layout, sentence: int, groups: tuple[int, ...]) -> Spot:
    """A spot at the end of *sentence* that any of the chunks *groups* may carry."""
    start, end = layout.sentences[sentence]
    return Spot(end, sentence, Marker((groups,)), claim_span(layout.text, start, end), guessed=True)


def states(layout: Layout, sentence: int) -> bool:
    """Whether *sentence* states something that could be cited: no heading, no question, no code, no "Here is how:"."""
    start, end = layout.sentences[sentence]
    text = layout.text[start:end]
    code = code_within(layout.code, start, end)
    in_code = any(layout.text[begin] != "`" for begin, _ in code)
    in_fence = any(begin <= start and end <= stop for begin, stop in code)
    bare = text.rstrip("*_ ")
    return (
        not (in_code or in_fence or text.startswith("#") or bare.endswith((":", "?")))
        and len(frozenset(stems(text))) >= LEAST_WORDS
    )


def _without_stub(text: str) -> str:
    """*text* without its last line, where that only opens what is gone: the sign of a list, a heading, a fence."""
    line = text.rfind("\n") + 1
    return text[: max(0, line - 1)] if _STUB.fullmatch(text, line) else text


def _is_finished(text: str, span: Span, marks: Sequence[tuple[int, Marker]]) -> bool:
    """Whether a sentence ends as sentences do, or with its citation."""
    ends = text[slice(*span)].rstrip("\"'”’)]*_` ").endswith(_FINISHED)
    return ends or any(place >= span[1] for place, _ in marks)


def _lines_led_by_markers(text: str, spans: Sequence[Span], places: Sequence[int]) -> set[int]:
    """Lines, by the place of the line break before them, whose markers stand before their sentences."""
    lines: dict[int, list[int]] = {}
    for place in places:
        lines.setdefault(text.rfind("\n", 0, place), []).append(place)
    found: set[int] = set()
    for line, own in lines.items():
        stop = text.find("\n", line + 1)
        first = bisect_right(spans, line, key=itemgetter(0))
        last = (len(spans) if stop < 0 else bisect_left(spans, stop, key=itemgetter(0))) - 1
        if last > first and own[0] <= spans[first][0] and own[-1] <= spans[last][0]:
            found.add(line)
    return found


def _sentence_at(place: int, spans: Sequence[Span], text: str, leads: bool) -> int:
    """The sentence a marker at *place* is on."""
    before = bisect_right(spans, place - 1, key=itemgetter(0)) - 1
    if before < 0:
        return 0
    after_it = place >= spans[before][1]
    opens_line = after_it and "\n" in text[spans[before][1] : place]
    return min(before + 1, len(spans) - 1) if opens_line or (leads and after_it) else before


def _outside(place: int, code: Sequence[Span]) -> int:
    """*place*, moved behind the code it would stand in."""
    return next((end for start, end in code_within(code, place, place + 1) if start < place), place)


def _claim(spots: Sequence[Spot], spans: Sequence[Span], text: str) -> None:
    """Set what each spot claims, and the parts that may be checked instead of it."""
    places: dict[int, list[int]] = {}
    for spot in spots:
        places.setdefault(spot.sentence, []).append(spot.place)

    @cache
    def whole_of(sentence: int) -> tuple[Span, list[Span]]:
        whole = claim_span(text, *spans[sentence])
        return whole, clauses(text, *whole)

    for spot in spots:
        start, end = spans[spot.sentence]
        own = places[spot.sentence]
        whole, parts = whole_of(spot.sentence)
        earlier = bisect_left(own, spot.place)
        since = max(start, own[earlier - 1]) if earlier else start
        before = claim_span(text, since, min(spot.place, end))
        short = len(frozenset(stems(text[slice(*before)]))) < LEAST_WORDS
        if len(own) > 1 and not short:
            spot.claim, spot.parts = before, clauses(text, *before)
        elif spot.place < end and not short and _CLAUSE_ENDS.match(text, spot.place):
            spot.claim, spot.parts = whole, [before]
        else:
            spot.claim, spot.parts = whole, list(parts)
        if spot.parts == [spot.claim]:
            spot.parts = []
