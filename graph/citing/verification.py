"""Verify each claim of an answer against the chunks its marker names."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace

from graph.citing.anchors import CitationAnchor
from graph.citing.claims import bare_claim
from graph.citing.markers import Marker
from graph.errors import RAGError
from graph.evidence.lexical_overlap import likely, words_of
from graph.evidence.support import CLEAR_SUPPORT, SUPPORT_BAR, Quote, quotes, supported
from graph.ports import Passage, PassageReader
from graph.sentences import Span
from graph.state import Chunk, ReadPassage

MOST_CHUNKS = 3
"""Chunks of one document or page that are searched for one claim: those with most of its words."""

MOST_READ = 2
"""Quotes of one claim that are read; the others are scored by their words."""

MOST_CLAIM = 4_000
"""Characters of a claim that is checked; no sentence of a document carries a longer one."""

log = logging.getLogger("garden.graph")

Backed = tuple[str, Quote]
"""A stretch of the answer, and the quote that supports it."""

Pair = tuple[str, Passage]
"""A claim, and the passage read for it."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found for one anchor: ``backed`` is empty where nothing holds; ``support`` is the best there was."""

    backed: list[Backed] = field(default_factory=list)
    support: float = 0.0


@dataclass(slots=True)
class _Check:
    """A ``claim`` as the answer has it, its ``bare`` form, and the quotes of each group of chunks its marker names."""

    claim: str
    bare: str
    options: list[list[Quote]]

    @property
    def quotes(self) -> list[Quote]:
        return [quote for group in self.options for quote in group]

    def pairs(self) -> list[Pair]:
        """List what to read: of the undecided quotes, those with most of the claim's words."""
        undecided = sorted((quote for quote in self.quotes if quote.undecided), key=lambda quote: -quote.overlap)
        return [(self.bare, quote.passage) for quote in undecided[:MOST_READ] if quote.passage]

    def score(self, read: dict[Pair, ReadPassage]) -> None:
        """Set the support of every quote from what was *read*."""

        def scored(quote: Quote) -> Quote:
            found = read.get((self.bare, quote.passage)) if quote.passage else None
            return replace(quote, support=supported(quote, found))

        self.options = [[scored(quote) for quote in group] for group in self.options]

    def best(self) -> list[Quote]:
        """Return the best quote of each group that has one."""
        return [max(group, key=lambda quote: quote.support) for group in self.options if group]

    def kept(self, bar: float) -> list[Backed]:
        return [(self.claim, quote) for quote in self.best() if quote.support >= bar]


async def verify(
    anchors: Sequence[CitationAnchor],
    text: str,
    chunks: Sequence[Chunk],
    reader: PassageReader | None,
    given: Collection[str],
    seconds: float | None = None,
) -> list[Verdict]:
    """Return a verdict for each of *anchors* in *text*, reading all that has to be read within *seconds*.

    A claim that no single quote carries may be carried in parts, each part by the same chunk or another. *given* are
    the stems of the question.
    """
    checks: dict[tuple[str, Marker], _Check] = {}

    async def check(stretch: Span, marker: Marker) -> _Check:
        key = (text[slice(*stretch)], marker)
        if key not in checks:
            await asyncio.sleep(0)  # a long answer must not block the event loop, and its deadline must end it
            checks[key] = _check(key[0], marker, chunks, given)
        return checks[key]

    claims = [await check(anchor.claim, anchor.marker) for anchor in anchors]
    await _read(claims, reader, seconds)
    parts: list[list[_Check]] = []
    for anchor, claim in zip(anchors, claims, strict=True):
        # What a quote lacks or denies may be of another clause; these contradictions are of the claim itself.
        contradicted = any(q.contradiction in ("condition", "opposite", "order", "strength") for q in claim.quotes)
        divided = not contradicted and not claim.kept(SUPPORT_BAR)
        parts.append([await check(part, anchor.marker) for part in anchor.parts] if divided else [])
    await _read([part for some in parts for part in some], reader, seconds)
    return [
        _verdict(claim, some, CLEAR_SUPPORT if anchor.guessed else SUPPORT_BAR)
        for anchor, claim, some in zip(anchors, claims, parts, strict=True)
    ]


def _check(claim: str, marker: Marker, chunks: Sequence[Chunk], given: Collection[str]) -> _Check:
    """Find the quotes for *claim*: where the chunk has its very words those, else for its bare form."""
    if len(claim) > MOST_CLAIM:
        return _Check(claim, "", [])
    bare = bare_claim(claim) or claim
    options: list[list[Quote]] = []
    for group in marker.groups:
        named = [chunks[position] for position in group]
        found: list[Quote] = []
        for chunk in likely(bare, named, MOST_CHUNKS) if len(named) > 1 else named:
            verbatim = [quote for quote in quotes(claim, chunk, given) if quote.verbatim] if bare != claim else []
            found += verbatim or quotes(bare, chunk, given)
        options.append(found)
    return _Check(claim, bare, options)


async def _read(checks: Iterable[_Check], reader: PassageReader | None, seconds: float | None) -> None:
    """Score *checks* with what the reader says; by words alone where it fails or does not answer in time."""
    checks = list(checks)
    read: dict[Pair, ReadPassage] = {}
    pairs = list(dict.fromkeys(pair for one in checks for pair in one.pairs())) if reader else []
    if reader and pairs:
        try:
            async with asyncio.timeout(seconds):
                found = await asyncio.gather(*(reader.read(claim, [passage]) for claim, passage in pairs))
            read = {pair: one for pair, (one,) in zip(pairs, found, strict=True)}
        except (RAGError, TimeoutError) as error:
            fields = {"failed": type(error).__name__, "pairs": len(pairs)}
            log.warning("support scored by lexical overlap", extra=fields)
    for one in checks:
        one.score(read)


def _verdict(claim: _Check, parts: Sequence[_Check], bar: float) -> Verdict:
    support = max((quote.support for quote in claim.best()), default=0.0)
    kept = claim.kept(bar)
    if kept or not parts:
        return Verdict(kept, support)
    held = [part.kept(bar) for part in parts]
    covered = (words_of(f"{part.bare} {quote.text}") for part in parts for quote in part.best())
    if not all(held) or words_of(claim.bare).difference(*covered):
        return Verdict([], support)
    least = min(max(quote.support for _, quote in some) for some in held)
    return Verdict([backed for some in held for backed in some], least)
