"""Keep of the draft what the chunks support, each sentence with its verified citations."""

import time

from answering.evidence.verify import VerifiedSentence, verify
from answering.render import cite_by_document, numbered
from answering.types import Chunk, Citation, PassageReader
from graph.outputs import ended
from graph.state import Context, State, Update

SHARE_OF_TIME = 0.5
"""Share of the remaining time that the reader may take; past it, the lexical overlap decides."""


async def cite(state: State, _: Context, *, reader: PassageReader | None) -> Update:
    """Fill ``pieces``, ``citations``, ``unsupported``; finish the answer, or say by ``outcome`` why there is none.

    ``confidence`` is the synthesizer's own, or the mean support of the answer's sentences; one that was removed counts
    with the support it has. Without a valid citation it is 0.
    """
    draft, chunks, question = state["draft"], state["graded"], state["question"]
    verified = await verify(
        draft.sentences,
        chunks,
        reader=reader,
        question=question.text,
        attribute=question.attribution == "verified",
        seconds=max(0.0, question.deadline - time.monotonic()) * SHARE_OF_TIME,
    )
    citations, pieces = cite_by_document(verified, chunks)
    removed = [sentence.removed for sentence in verified if sentence.removed]
    unsupported = [*(state.get("unsupported") or ()), *removed]  # what a model wrote stays listed beside the passages
    update: Update = {
        "pieces": pieces,
        "citations": citations,
        "unsupported": list(dict.fromkeys(unsupported)),
        "confidence": 0.0,
    }
    if not citations:
        return {**update, "outcome": "no_citations"}
    confidence = mean_support(verified) if draft.confidence is None else draft.confidence
    update["confidence"] = round(confidence, 4)
    if confidence < question.min_confidence:
        return {**update, "outcome": "low_confidence"}
    if draft.by_model and removed and not answers(citations, chunks):
        return {**update, "outcome": "no_citations"}
    answer = numbered(pieces, citations)
    return {**update, "markers": answer.markers, **ended(state, "answered", answer.text, citations)}


def mean_support(verified: list[VerifiedSentence]) -> float:
    """Return the mean support in [0, 1] of the sentences that state something; there is at least one."""
    supports = [sentence.support for sentence in verified if sentence.support is not None]
    return sum(supports) / len(supports)


def answers(citations: list[Citation], chunks: list[Chunk]) -> bool:
    """Whether a quote is a sentence that answers, as the reader read its chunk; True where no cited chunk was read."""
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    read = [(citation, by_id[citation.chunk_id]) for citation in citations]
    scores = [
        score > chunk.read.null
        for citation, chunk in read
        if chunk.read
        for (start, end), score in zip(chunk.spans, chunk.read.sentences, strict=True)
        if start < citation.end and citation.start < end
    ]
    return any(scores) or not scores
