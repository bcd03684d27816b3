"""From a draft's pieces to an answer whose every marker is verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph.citing.anchors import Layout, Spot, guess, lay_out, states, unmarked
from graph.citing.markers import Marker
from graph.citing.verification import Backed, Verdict, verify
from graph.ports import PassageReader
from graph.state import Chunk
from graph.terms import question_stems


@dataclass(frozen=True, slots=True)
class Cited:
    """The answer in pieces: text, or the backed citations that stand there.

    ``supports`` holds, for each sentence that states something, the support it has: of its citations, or, where it
    carries none, of the chunk that comes nearest to it. ``unsupported`` are the claims whose markers went.
    """

    pieces: list[str | tuple[Backed, ...]]
    supports: list[float]
    unsupported: list[str]


async def place_markers(
    pieces: Sequence[str | Marker],
    chunks: Sequence[Chunk],
    *,
    reader: PassageReader | None,
    question: str = "",
    torn: bool = False,
    attribute: bool = False,
    seconds: float | None = None,
) -> Cited:
    """Verify every marker of *pieces* and keep those whose claim is supported by a chunk they name.

    What *question* says need not be said again by a claim. With *torn*, the last sentence goes unless it is finished.
    With *attribute*, a sentence left without a marker that a chunk clearly supports gets one. The *reader* has so many
    *seconds*; without its answer wording decides.
    """
    layout = lay_out(pieces, torn=torn)
    given = frozenset(question_stems(question))
    everywhere = tuple(range(len(chunks)))
    spots = layout.spots + unmarked(layout, everywhere)
    verdicts = await verify(spots, layout.text, chunks, reader, given, seconds)
    if attribute:
        again = [guess(layout, i, everywhere) for i in _left_bare(layout, spots, verdicts)]
        spots = spots + again
        verdicts = verdicts + await verify(again, layout.text, chunks, reader, given, seconds)
    found = sorted(zip(spots, verdicts, strict=True), key=lambda pair: (pair[0].place, pair[0].guessed))
    shown = [pair for pair in found if attribute or not pair[0].guessed]
    return Cited(_cut(layout.text, shown), _supports(found), _unsupported(layout, shown))


def _left_bare(layout: Layout, spots: Sequence[Spot], verdicts: Sequence[Verdict]) -> list[int]:
    """Sentences whose every marker went."""
    backed = {spot.sentence for spot, verdict in zip(spots, verdicts, strict=True) if verdict.backed}
    failed = {spot.sentence for spot in spots if not spot.guessed} - backed
    return sorted(i for i in failed if states(layout, i))


def _cut(text: str, found: Sequence[tuple[Spot, Verdict]]) -> list[str | tuple[Backed, ...]]:
    """*text* cut at its citations; one that a sentence already carries is not repeated."""
    out: list[str | tuple[Backed, ...]] = []
    carried: set[tuple[int, str, int, str]] = set()
    done = 0
    for spot, verdict in found:
        out.append(text[done : spot.place])
        done = max(done, spot.place)
        fresh: list[Backed] = []
        for stretch, quote in verdict.backed:
            key = (spot.sentence, quote.chunk_id, quote.start, stretch)
            if key not in carried:
                carried.add(key)
                fresh.append((stretch, quote))
        out.append(tuple(fresh))
    out.append(text[done:])
    return [piece for piece in out if piece]


def _supports(found: Sequence[tuple[Spot, Verdict]]) -> list[float]:
    """The best support of each sentence that states something, in order."""
    by_sentence: dict[int, float] = {}
    for spot, verdict in found:
        by_sentence[spot.sentence] = max(by_sentence.get(spot.sentence, 0.0), verdict.support)
    return [by_sentence[sentence] for sentence in sorted(by_sentence)]


def _unsupported(layout: Layout, found: Sequence[tuple[Spot, Verdict]]) -> list[str]:
    """The claims the model cited for which nothing holds, each once, in order."""
    backed = {spot.sentence for spot, verdict in found if verdict.backed and spot.guessed}
    claims = (
        layout.text[slice(*spot.claim)]
        for spot, verdict in found
        if not verdict.backed and not spot.guessed and spot.sentence not in backed
    )
    return list(dict.fromkeys(claims))
