"""Each claim of an answer, held against the chunks it names; what is not decided by wording is decided by meaning."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from graph.citing.markers import Marker
from graph.citing.pace import Pace
from graph.citing.spots import Spot
from graph.errors import GardenError
from graph.evidence.claims import claim_of
from graph.evidence.support import CLEAR_SUPPORT, SUPPORT_BAR, Quote, quotes, supported
from graph.evidence.wording import likely, nearest
from graph.ports import SupportScorer
from graph.sentences import Span
from graph.state import Chunk
from graph.terms import stems

MOST_CHUNKS = 3
"""Chunks of one document or page that are looked into for one claim: those with most of its words."""

MOST_PAIRS = 3
"""Quotes of one claim that are compared in meaning; the others are judged by their wording."""

MOST_CLAIM = 4_000
"""Characters of a claim that is looked into; a longer one no sentence of a document carries."""

log = logging.getLogger("garden.graph")

Backed = tuple[str, Quote]
"""A stretch of the answer, and the quote that supports it."""


@dataclass(slots=True)
class Verdict:
    """What was found for one spot: ``backed`` is empty where nothing holds; ``support`` is the best there was."""

    backed: list[Backed] = field(default_factory=list)
    support: float = 0.0


@dataclass(slots=True)
class _Check:
    """One stretch and, for each group of chunks its marker names, the quotes that may carry it."""

    claim: str
    options: list[list[Quote]]

    def best(self) -> list[Quote]:
        """The best quote of each group that has one."""
        return [max(group, key=lambda quote: quote.support) for group in self.options if group]

    def pairs(self) -> list[tuple[str, str]]:
        undecided = sorted((q for group in self.options for q in group if q.undecided), key=lambda q: -q.wording)
        return [(self.claim, quote.text) for quote in undecided[:MOST_PAIRS]]

    def settle(self, cosines: dict[tuple[str, str], float]) -> None:
        self.options = [
            [replace(quote, support=supported(quote, cosines.get((self.claim, quote.text)))) for quote in group]
            for group in self.options
        ]


async def verify(
    spots: Sequence[Spot],
    text: str,
    chunks: Sequence[Chunk],
    scorer: SupportScorer | None,
    given: Collection[str],
    seconds: float | None = None,
) -> list[Verdict]:
    """A verdict for each of *spots* in *text*; all similarities are asked for in one call, within *seconds*.

    A claim that no single quote carries may be carried in parts: then every part must be.
    """
    checks: list[tuple[_Check, list[_Check]]] = []
    made: dict[tuple[str, Marker, bool], _Check] = {}
    pace = Pace()

    def check(stretch: Span, spot: Spot) -> _Check:
        key = (text[slice(*stretch)], spot.marker, spot.guessed)
        if key not in made:
            made[key] = _check(key[0], spot, chunks, given)
        return made[key]

    for spot in spots:
        await pace.breathe()
        whole = check(spot.claim, spot)
        settled = any(supported(quote, None) >= SUPPORT_BAR and not quote.undecided for quote in whole.best())
        stretches = [] if settled else _parts(spot, text, chunks)
        parts: list[_Check] = []
        for part in stretches:
            await pace.breathe()
            parts.append(check(part, spot))
        checks.append((whole, parts))
    cosines = await _cosines((pair for one in made.values() for pair in one.pairs()), scorer, seconds)
    for one in made.values():
        one.settle(cosines)
    verdicts: list[Verdict] = []
    for spot, (whole, parts) in zip(spots, checks, strict=True):
        await pace.breathe()
        bar = CLEAR_SUPPORT if spot.guessed else SUPPORT_BAR
        verdicts.append(_verdict(whole, parts, bar, chunks, text[slice(*spot.claim)]))
    return verdicts


def _parts(spot: Spot, text: str, chunks: Sequence[Chunk]) -> list[Span]:
    """The stretches that may be checked instead of the claim: clauses, those of one source sentence together."""
    if len(spot.parts) < 2:
        return spot.parts
    named = [chunks[place] for place in dict.fromkeys(place for group in spot.marker.groups for place in group)]
    parts: list[Span] = []
    last: tuple[str, int] | None = None
    for start, end in spot.parts:
        source = nearest(text[start:end], named)
        if source is None:
            return []
        if source == last:
            parts[-1] = (parts[-1][0], end)
        else:
            parts.append((start, end))
        last = source
    return parts if len(parts) > 1 else []


def _check(claim: str, spot: Spot, chunks: Sequence[Chunk], given: Collection[str]) -> _Check:
    least = 2 * CLEAR_SUPPORT - 1 if spot.guessed else 0.0  # less wording than that no meaning can make clear
    options: list[list[Quote]] = []
    for group in spot.marker.groups if len(claim) <= MOST_CLAIM else ():
        named = [chunks[place] for place in group]
        if len(named) > 1:
            named = likely(claim, named, least)[:MOST_CHUNKS]
        options.append([quote for chunk in named for quote in quotes(claim, chunk, given)])
    return _Check(claim, options)


async def _cosines(
    wanted: Iterable[tuple[str, str]], scorer: SupportScorer | None, seconds: float | None
) -> dict[tuple[str, str], float]:
    """The cosine of each pair; none when the model does not answer in time, for then wording has to do."""
    pairs = list(dict.fromkeys(wanted))
    if scorer is None or not pairs:
        return {}
    try:
        async with asyncio.timeout(seconds):
            return dict(zip(pairs, await scorer.similarities(pairs), strict=True))
    except (GardenError, TimeoutError) as error:
        log.warning("support by wording alone", extra={"failed": type(error).__name__, "pairs": len(pairs)})
        return {}


def _verdict(whole: _Check, parts: Sequence[_Check], bar: float, chunks: Sequence[Chunk], claim: str) -> Verdict:
    best = whole.best()
    support = max((quote.support for quote in best), default=0.0)
    kept = [(whole.claim, quote) for quote in best if quote.support >= bar]
    if kept or not parts:
        return Verdict(kept, support)
    backed: list[Backed] = []
    least = 1.0
    for part in parts:
        held = [
            q for q in part.best() if q.support >= bar and (len(parts) == 1 or _is_about(part.claim, claim, q, chunks))
        ]
        if not held:
            return Verdict([], support)
        least = min(least, max(quote.support for quote in held))
        backed.extend((part.claim, quote) for quote in held)
    return Verdict(backed, least)


def _is_about(part: str, claim: str, quote: Quote, chunks: Sequence[Chunk]) -> bool:
    """Whether the chunk of *quote* speaks of whom the whole *claim* is about, where its *part* names nobody."""
    names = claim_of(part).names
    if names.runs or names.opening:
        return True
    of_claim = claim_of(claim).names
    subject = {of_claim.opening} if of_claim.opening else set(of_claim.runs[0] if of_claim.runs else ())
    chunk = next(chunk for chunk in chunks if chunk.chunk_id == quote.chunk_id)
    return subject <= frozenset(stems(f"{chunk.title} {chunk.text}"))
