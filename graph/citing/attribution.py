"""Turn a draft's pieces into an answer whose every marker is verified."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from graph.citing.anchors import CitationAnchor, Layout, guess, lay_out, states
from graph.citing.markers import Marker
from graph.citing.verification import Backed, Verdict, verify
from graph.ports import PassageReader
from graph.state import Chunk
from graph.terms import question_stems


@dataclass(frozen=True, slots=True)
class Cited:
    """The answer in pieces: text, or the verified citations at that position.

    ``supports`` holds the support of each sentence that states something: of its citations, or, without one, of the
    nearest chunk. ``unsupported`` are the claims whose markers were removed.
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
    truncated: bool = False,
    attribute: bool = False,
    seconds: float | None = None,
) -> Cited:
    """Verify every marker of *pieces* and keep those whose claim is supported by a chunk they name.

    A claim need not repeat what *question* says. With *truncated*, an unfinished last sentence is removed. With
    *attribute*, a sentence without a marker gets one where a chunk clearly supports it. The *reader* has *seconds*;
    without its answer the lexical overlap decides.
    """
    layout = lay_out(pieces, truncated=truncated)
    given = frozenset(question_stems(question))

    async def verified(anchors: list[CitationAnchor]) -> list[tuple[CitationAnchor, Verdict]]:
        verdicts = await verify(anchors, layout.text, chunks, reader, given, seconds)
        return list(zip(anchors, verdicts, strict=True))

    def guesses(sentences: set[int]) -> list[CitationAnchor]:
        return [guess(layout, i, len(chunks)) for i in sorted(sentences) if states(layout, i)]

    marked = {anchor.sentence for anchor in layout.anchors}
    found = await verified(layout.anchors + guesses(set(range(len(layout.sentences))) - marked))
    if attribute:
        found += await verified(guesses(marked - {anchor.sentence for anchor, verdict in found if verdict.backed}))
    found.sort(key=lambda pair: (pair[0].position, pair[0].guessed))
    supports: dict[int, float] = {}
    for anchor, verdict in found:
        supports[anchor.sentence] = max(supports.get(anchor.sentence, 0.0), verdict.support)
    shown = [pair for pair in found if attribute or not pair[0].guessed]
    return Cited(_cut(layout.text, shown), [supports[i] for i in sorted(supports)], _unsupported(layout, shown))


def _cut(text: str, found: Sequence[tuple[CitationAnchor, Verdict]]) -> list[str | tuple[Backed, ...]]:
    """Cut *text* at its citations, each once in a sentence."""
    out: list[str | tuple[Backed, ...]] = []
    carried: set[tuple[int, str, int, str]] = set()
    done = 0
    for anchor, verdict in found:
        out.append(text[done : anchor.position])
        done = max(done, anchor.position)
        fresh: dict[tuple[int, str, int, str], Backed] = {}
        for stretch, quote in verdict.backed:
            fresh.setdefault((anchor.sentence, quote.chunk_id, quote.start, stretch), (stretch, quote))
        out.append(tuple(backed for key, backed in fresh.items() if key not in carried))
        carried |= fresh.keys()
    out.append(text[done:])
    return [piece for piece in out if piece]


def _unsupported(layout: Layout, found: Sequence[tuple[CitationAnchor, Verdict]]) -> list[str]:
    """List the claims the model cited for which nothing holds, each once, in order."""
    repaired = {anchor.sentence for anchor, verdict in found if verdict.backed and anchor.guessed}
    claims = (
        layout.text[slice(*anchor.claim)]
        for anchor, verdict in found
        if not verdict.backed and not anchor.guessed and anchor.sentence not in repaired
    )
    return list(dict.fromkeys(claims))
