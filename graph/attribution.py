"""From a draft's pieces to an answer whose every marker is verified."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, replace

from graph.citations import Marker, tidy
from graph.evidence import CLEAR_SUPPORT, SUPPORT_BAR, Quote, quotes, supported
from graph.ports import SupportScorer
from graph.sentences import sentence_spans
from graph.state import Chunk
from graph.terms import stems

LEAST_CLAUSE = 3
"""Content words a clause needs to be checked on its own; a shorter one is checked with its whole sentence."""

Backed = tuple[str, Quote]
"""A sentence of the answer, and the quote that supports it."""


@dataclass(frozen=True, slots=True)
class Cited:
    """The answer in pieces: text, or the backed citations that stand there. ``by_sentence`` groups these by sentence."""

    pieces: list[str | tuple[Backed, ...]]
    by_sentence: list[tuple[Backed, ...]]
    unsupported: list[str]


@dataclass(slots=True)
class _Spot:
    """One marker in the text without markers: where it stands, which sentence it is on, what it names, what it claims.

    ``claim`` is the sentence, or the clause up to the marker where the sentence carries several. ``guessed`` marks a
    spot the model left bare (``ATTRIBUTION=verified``).
    """

    place: int
    sentence: int
    marker: Marker
    claim: str = ""
    guessed: bool = False


async def place_markers(
    pieces: Sequence[str | Marker],
    chunks: Sequence[Chunk],
    *,
    scorer: SupportScorer | None,
    torn: bool = False,
    attribute: bool = False,
) -> Cited:
    """Verify every marker of *pieces* and keep those whose sentence is supported by a chunk they name.

    With *torn*, the last sentence goes unless it is finished. With *attribute*, a sentence without a marker that a
    chunk clearly supports gets one.
    """
    text, marks = _flatten(pieces)
    spans = list(sentence_spans(text))
    if torn and spans and not _finished(text, spans[-1]):
        text = text[: spans.pop()[0]].rstrip()
    spots = [
        _Spot(place, _sentence_at(place, spans, text), marker)
        for place, marker in marks
        if spans and place <= len(text)
    ]
    if attribute:
        spots += _unmarked(spans, spots, len(chunks))
    spots.sort(key=lambda spot: spot.place)
    _claims(spots, spans, text)
    backed = await _verify(spots, chunks, scorer)
    out: list[str | tuple[Backed, ...]] = []
    by_sentence: list[list[Backed]] = [[] for _ in spans]
    unsupported: dict[str, None] = {}
    done = 0
    for spot, found in zip(spots, backed, strict=True):
        out.append(text[done : spot.place])
        done = max(done, spot.place)
        sentence = text[slice(*spans[spot.sentence])]
        fresh = tuple((sentence, quote) for quote in found if (sentence, quote) not in by_sentence[spot.sentence])
        by_sentence[spot.sentence].extend(fresh)
        out.append(fresh)
        if not found and spot.marker.chunks and not spot.guessed:
            unsupported[sentence] = None
    out.append(text[done:])
    return Cited(_joined(out), [tuple(found) for found in by_sentence], list(unsupported))


def _flatten(pieces: Sequence[str | Marker]) -> tuple[str, list[tuple[int, Marker]]]:
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


def _sentence_at(place: int, spans: Sequence[tuple[int, int]], text: str) -> int:
    """The sentence a marker at *place* is on: the one it stands in or after; on a new line, the one it opens."""
    before = bisect_right([start for start, _ in spans], place - 1) - 1
    if before < 0:
        return 0
    opens_line = "\n" in text[spans[before][1] : place] or (place >= spans[before][1] and text[place - 1 : place] == "\n")
    return min(before + 1, len(spans) - 1) if opens_line else before


def _finished(text: str, span: tuple[int, int]) -> bool:
    return text[span[0] : span[1]].rstrip("\"'”’)]*_` ").endswith((".", "!", "?", "。", "…"))


def _unmarked(spans: Sequence[tuple[int, int]], spots: Sequence[_Spot], count: int) -> list[_Spot]:
    """A guess, over every chunk, for each sentence that carries no marker."""
    marked = {spot.sentence for spot in spots}
    return [
        _Spot(end, i, Marker(tuple(range(count)), any_of=True), guessed=True)
        for i, (_, end) in enumerate(spans)
        if i not in marked
    ]


def _claims(spots: Sequence[_Spot], spans: Sequence[tuple[int, int]], text: str) -> None:
    """Set each spot's claim: its sentence, or its clause where markers stand at several places of one sentence."""
    places: dict[int, list[int]] = {}
    for spot in spots:
        places.setdefault(spot.sentence, []).append(spot.place)
    for spot in spots:
        start, end = spans[spot.sentence]
        inner = sorted({place for place in places[spot.sentence] if start < place < end})
        clause = text[max([start, *(p for p in inner if p < spot.place)]) : spot.place if spot.place in inner else end]
        whole = text[start:end]
        several = len(set(places[spot.sentence])) > 1 and len(stems(clause)) >= LEAST_CLAUSE
        spot.claim = clause.strip(" ,;:") if several else whole


async def _verify(spots: Sequence[_Spot], chunks: Sequence[Chunk], scorer: SupportScorer | None) -> list[list[Quote]]:
    """For each spot, the quotes that hold; all similarities are asked for in one call."""
    options = [[quotes(spot.claim, chunks[i]) for i in spot.marker.chunks] for spot in spots]
    asked: dict[tuple[str, str], float | None] = {}
    if scorer is not None:
        pairs = dict.fromkeys(
            (spot.claim, quote.text)
            for spot, named in zip(spots, options, strict=True)
            for found in named
            for quote in found
            if quote.consistent and not quote.verbatim
        )
        if pairs:
            asked = dict(zip(pairs, await scorer.similarities(list(pairs)), strict=True))
    backed: list[list[Quote]] = []
    for spot, named in zip(spots, options, strict=True):
        best = [
            max(
                (replace(quote, support=supported(quote, asked.get((spot.claim, quote.text)))) for quote in found),
                key=lambda quote: quote.support,
            )
            for found in named
            if found
        ]
        kept = [quote for quote in best if quote.support >= (CLEAR_SUPPORT if spot.guessed else SUPPORT_BAR)]
        if spot.marker.any_of and kept:
            kept = [max(kept, key=lambda quote: quote.support)]
        backed.append(kept)
    return backed


def _joined(pieces: Sequence[str | tuple[Backed, ...]]) -> list[str | tuple[Backed, ...]]:
    """The pieces with empty ones left out."""
    return [piece for piece in pieces if piece]
