"""Keep each marker of the draft only where a sentence of its chunk supports it."""

import time

from answering.evidence.attribution import Cited, place_markers
from answering.markers.parse import parse, without_dangling
from answering.types import Chunk, Citation, PassageReader
from graph.outputs import ended, numbered
from graph.policy import Policy
from graph.state import State, Update

SHARE_OF_TIME = 0.5
"""Share of the remaining time that the reader may take; past it, the lexical overlap decides."""


async def cite(state: State, *, reader: PassageReader | None, policy: Policy) -> Update:
    """Fill ``pieces``, ``citations``, ``unsupported``; finish the answer, or say by ``outcome`` why there is none.

    ``confidence`` is the synthesizer's own, or the mean support of the answer's sentences; a sentence without a
    citation counts with the support it would have. Without a valid citation it is 0.
    """
    draft, chunks, question = state["draft"], state["graded"], state["question"]
    cited = await place_markers(
        parse(without_dangling(draft.text) if draft.truncated else draft.text, chunks),
        chunks,
        reader=reader,
        question=question.text,
        truncated=draft.truncated,
        attribute=policy.attribution == "verified",
        seconds=max(0.0, question.deadline - time.monotonic()) * SHARE_OF_TIME,
    )
    citations, pieces = number_by_document(cited, chunks)
    update: Update = {"pieces": pieces, "citations": citations, "unsupported": cited.unsupported, "confidence": 0.0}
    if not citations:
        return {**update, "outcome": "no_citations"}
    confidence = sum(cited.supports) / len(cited.supports) if draft.confidence is None else draft.confidence
    update["confidence"] = round(confidence, 4)
    if confidence < question.min_confidence:
        return {**update, "outcome": "low_confidence"}
    return {**update, **ended(state, "answered", numbered(pieces, citations), citations)}


def number_by_document(cited: Cited, chunks: list[Chunk]) -> tuple[list[Citation], list[str | int]]:
    """Number the kept quotes by document, in order of first citation (contract, "Markers").

    Returns the citations, and the answer's pieces: text, or the 0-based position of a citation.
    """
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    numbers: dict[str, int] = {}
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
                    marker=numbers.setdefault(chunk.document_id, len(numbers) + 1),
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
