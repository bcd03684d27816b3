"""Every marker of the draft, checked: it stays only where a sentence of the chunk it names supports it."""

from __future__ import annotations

from dataclasses import dataclass

from graph.attribution import Cited, place_markers
from graph.citations import Marker, parse, without_dangling
from graph.outputs import answered
from graph.policy import Policy
from graph.ports import SupportScorer
from graph.render import numbered
from graph.state import Chunk, Citation, State
from graph.steps import Update


async def cite(state: State, *, support: SupportScorer | None, policy: Policy) -> Update:
    """Fill ``pieces``, ``citations`` and ``unsupported``; finish the answer, or say by ``outcome`` why there is none."""
    draft, chunks = state["draft"], state["graded"]
    text = without_dangling(draft.text) if draft.truncated else draft.text
    cited = await place_markers(
        parse(text, chunks),
        chunks,
        scorer=support,
        torn=draft.truncated,
        attribute=policy.attribution == "verified",
    )
    citations, pieces = number_by_document(cited, chunks)
    confidence = draft.confidence if draft.confidence is not None else confidence_of(cited)
    update: Update = {
        "pieces": pieces,
        "citations": citations,
        "unsupported": cited.unsupported,
        "confidence": round(confidence, 4),
    }
    if not citations:
        return {**update, "outcome": "no_citations"}
    if confidence < policy.min_confidence:
        return {**update, "outcome": "low_confidence"}
    return {**update, **answered(state, numbered(pieces, citations), citations)}


@dataclass(slots=True)
class _Numbers:
    """Document ids and their markers, counted up in the order of first citation."""

    markers: dict[str, int]

    def of(self, document_id: str) -> int:
        return self.markers.setdefault(document_id, len(self.markers) + 1)


def number_by_document(cited: Cited, chunks: list[Chunk]) -> tuple[list[Citation], list[str | int]]:
    """Number the kept quotes by document, in order of first citation (contract, "Markers").

    Returns the citations, and the answer's pieces: text, or the 0-based place of a citation.
    """
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    numbers = _Numbers({})
    citations: list[Citation] = []
    pieces: list[str | int] = []
    for piece in cited.pieces:
        if isinstance(piece, str):
            pieces.append(piece)
            continue
        for sentence, quote in piece:
            chunk = by_id[quote.chunk_id]
            pieces.append(len(citations))
            citations.append(
                Citation(
                    marker=numbers.of(chunk.document_id),
                    document_id=chunk.document_id,
                    chunk_id=chunk.chunk_id,
                    sentence=sentence,
                    quote=quote.text,
                    start=quote.start,
                    end=quote.end,
                    support=quote.support,
                    title=chunk.title,
                    source=chunk.source or chunk.document_id,
                    page=chunk.page,
                    section=chunk.section,
                    url=chunk.url,
                )
            )
    return citations, pieces


def confidence_of(cited: Cited) -> float:
    """Mean support over the answer's sentences, an uncited or unsupported one counting as zero."""
    best = [max((quote.support for _, quote in found), default=0.0) for found in cited.by_sentence]
    return sum(best) / len(best) if best else 0.0


__all__ = ["Marker", "cite"]
