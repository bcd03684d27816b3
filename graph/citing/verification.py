"""Each claim of an answer, held against the chunks it names, and read with the stretch that comes nearest to it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from graph.citing.anchors import Spot
from graph.citing.cooperative_yield import Pace
from graph.citing.markers import Marker
from graph.citing.wording_of_claim import bare_claim
from graph.errors import RAGError
from graph.evidence.support import CLEAR_SUPPORT, SUPPORT_BAR, Quote, quotes, supported
from graph.evidence.wording import likely, words_of
from graph.ports import Passage, PassageReader
from graph.sentences import Span
from graph.state import Chunk, ReadPassage

MOST_CHUNKS = 3
"""Chunks of one document or page that are looked into for one claim: those with most of its words."""

MOST_READ = 2
"""Quotes of one claim that are read; the others are judged by their wording."""

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


Pair = tuple[str, Passage]
"""A claim, and what is read for it."""


@dataclass(slots=True)
class _Check:
    """One stretch and, for each group of chunks its marker names, the quotes that may carry it.

    ``claim`` is the stretch as the answer has it, ``bare`` without what only wraps it.
    """

    claim: str
    bare: str
    options: list[list[Quote]]

    def best(self) -> list[Quote]:
        """The best quote of each group that has one."""
        return [max(group, key=lambda quote: quote.support) for group in self.options if group]

    def pairs(self) -> list[Pair]:
        """What is read: the quotes with most of the claim's words among those that are not decided."""
        undecided = sorted((q for group in self.options for q in group if q.undecided), key=lambda q: -q.wording)
        return [(self.bare, quote.passage) for quote in undecided[:MOST_READ] if quote.passage]

    def settle(self, read: dict[Pair, ReadPassage]) -> None:
        self.options = [[self._settled(quote, read) for quote in group] for group in self.options]

    def _settled(self, quote: Quote, read: dict[Pair, ReadPassage]) -> Quote:
        found = read.get((self.bare, quote.passage)) if quote.passage else None
        return replace(quote, support=supported(quote, found))

    @property
    def contradicted(self) -> bool:
        """Whether it turns what a quote says; what that quote lacks or denies may be of another clause."""
        return any(
            quote.against in ("condition", "opposite", "order", "strength") for group in self.options for quote in group
        )


async def verify(
    spots: Sequence[Spot],
    text: str,
    chunks: Sequence[Chunk],
    reader: PassageReader | None,
    given: Collection[str],
    seconds: float | None = None,
) -> list[Verdict]:
    """A verdict for each of *spots* in *text*; all that has to be read is read at once, within *seconds*.

    A claim that no single quote carries may be carried in parts: then every part must be, by the same chunk or another.
    """
    made: dict[tuple[str, Marker], _Check] = {}
    pace = Pace()

    async def check(stretch: Span, spot: Spot) -> _Check:
        key = (text[slice(*stretch)], spot.marker)
        if key not in made:
            await pace.cooperative_yield()
            made[key] = _check(key[0], spot, chunks, given)
        return made[key]

    wholes = [await check(spot.claim, spot) for spot in spots]
    await _read(wholes, reader, seconds)
    parts: list[list[_Check]] = []
    for spot, whole in zip(spots, wholes, strict=True):
        divided = len(spot.parts) > 0 and not whole.contradicted and not _kept(whole, SUPPORT_BAR)
        parts.append([await check(part, spot) for part in spot.parts] if divided else [])
    await _read([one for some in parts for one in some], reader, seconds)
    return [
        _verdict(whole, some, CLEAR_SUPPORT if spot.guessed else SUPPORT_BAR)
        for spot, whole, some in zip(spots, wholes, parts, strict=True)
    ]


def _check(claim: str, spot: Spot, chunks: Sequence[Chunk], given: Collection[str]) -> _Check:
    options: list[list[Quote]] = []
    bare = bare_claim(claim) or claim if len(claim) <= MOST_CLAIM else ""
    for group in spot.marker.groups if bare else ():
        named = [chunks[place] for place in group]
        if len(named) > 1:
            named = likely(bare, named)[:MOST_CHUNKS]
        options.append([quote for chunk in named for quote in _quotes(claim, bare, chunk, given)])
    return _Check(claim, bare, options)


def _quotes(claim: str, bare: str, chunk: Chunk, given: Collection[str]) -> list[Quote]:
    """The quotes of *chunk*, for the answer's words where it has them letter for letter, else for the bare claim."""
    found = [quote for quote in quotes(claim, chunk, given) if quote.verbatim] if bare != claim else []
    return found or quotes(bare, chunk, given)


async def _read(checks: Iterable[_Check], reader: PassageReader | None, seconds: float | None) -> None:
    """Settle *checks* with what the reader says; by wording alone where it does not answer in time."""
    checks = list(checks)
    found: dict[Pair, ReadPassage] = {}
    pairs = list(dict.fromkeys(pair for one in checks for pair in one.pairs())) if reader else []
    if reader and pairs:
        try:
            async with asyncio.timeout(seconds):
                read = await asyncio.gather(*(reader.read(claim, [passage]) for claim, passage in pairs))
            found = {pair: one for pair, (one,) in zip(pairs, read, strict=True)}
        except (RAGError, TimeoutError) as error:
            log.warning("support by wording alone", extra={"failed": type(error).__name__, "pairs": len(pairs)})
    for one in checks:
        one.settle(found)


def _kept(check: _Check, bar: float) -> list[Backed]:
    return [(check.claim, quote) for quote in check.best() if quote.support >= bar]


def _verdict(whole: _Check, parts: Sequence[_Check], bar: float) -> Verdict:
    support = max((quote.support for quote in whole.best()), default=0.0)
    kept = _kept(whole, bar)
    if kept or not parts:
        return Verdict(kept, support)
    held = [_kept(part, bar) for part in parts]
    if not all(held):
        return Verdict([], support)
    backed = [one for some in held for one in some]
    added = words_of(whole.bare).difference(
        *(words_of(f"{part.bare} {quote.text}") for part in parts for quote in part.best())
    )
    least = min(max(quote.support for _, quote in some) for some in held)
    return Verdict([], support) if added else Verdict(backed, least)
