"""Keep of the draft what the chunks support, each sentence with its verified citations."""

import math
import time
from collections.abc import Iterator, Sequence

from langgraph.config import get_stream_writer

from answering.evidence.verify import VerifiedSentence, verify
from answering.render import cite_by_document, numbered
from answering.types import Chunk, Citation, ClaimReader
from graph.outputs import ended
from graph.state import Context, State, Update

SHARE_OF_TIME = 0.5
"""Share of the remaining time that the reader may take; past it, the lexical overlap decides."""


async def cite(state: State, _: Context, *, reader: ClaimReader | None, second: ClaimReader | None = None) -> Update:
    """Fill ``pieces``, ``citations``, ``unsupported``; finish the answer, or say by ``outcome`` why there is none.

    ``confidence`` is the synthesizer's own, or ``model_confidence``. Without a valid citation it is 0.
    """
    draft, chunks, question = state["draft"], state["graded"], state["question"]
    verified = await verify(
        draft.sentences,
        chunks,
        reader=reader,
        second=second,
        question=question.text,
        attribute=question.attribution == "verified",
        seconds=max(0.0, question.deadline - time.monotonic()) * SHARE_OF_TIME,
    )
    citations, pieces = cite_by_document(verified, chunks)
    write = get_stream_writer()
    for sentence, cited in by_sentence(verified, citations):
        write({"verified": {"sentence": sentence.text, "citations": cited}})
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
    confidence = model_confidence(verified, chunks) if draft.confidence is None else draft.confidence
    update["confidence"] = round(confidence, 4)
    if confidence < question.min_confidence:
        return {**update, "outcome": "low_confidence"}
    if draft.by_model and removed and not answers(citations, chunks):
        return {**update, "outcome": "no_citations"}
    answer = numbered(pieces, citations)
    return {**update, "markers": answer.markers, **ended(state, "answered", answer.text, citations)}


def by_sentence(
    verified: Sequence[VerifiedSentence], citations: Sequence[Citation]
) -> Iterator[tuple[VerifiedSentence, list[Citation]]]:
    """Yield each cited sentence with its citations."""
    following = iter(citations)
    for sentence in verified:
        if sentence.text and sentence.supported:
            yield sentence, [next(following) for _ in sentence.supported]


def model_confidence(verified: Sequence[VerifiedSentence], chunks: Sequence[Chunk]) -> float:
    """Return how surely a model's sentences answer, in [0, 1].

    The mean support of the sentences that state something (at least one; one that was removed counts too). Where the
    grader knows how probably the best chunk, of those read if there are any, answers the question at all, it is their
    geometric mean, in which that probability counts twice: a model finds words for what no passage answers, too. Chosen
    on the sample questions and 67 others with one model; not fitted.
    """
    supports = [sentence.support for sentence in verified if sentence.support is not None]
    support = sum(supports) / len(supports)
    graded = [chunk for chunk in chunks if chunk.answers is not None]
    read = [chunk for chunk in graded if chunk.reading] or graded
    if not read:
        return support
    answering = max(chunk.answers or 0.0 for chunk in read)
    return math.cbrt(support * answering**2)


def answers(citations: Sequence[Citation], chunks: Sequence[Chunk]) -> bool:
    """Whether a quote is a sentence that answers, as the reader read its chunk; True where no cited chunk was read."""
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    read = [(citation, by_id[citation.chunk_id]) for citation in citations]
    scores = [
        score > chunk.reading.null
        for citation, chunk in read
        if chunk.reading
        for (start, end), score in zip(chunk.spans, chunk.reading.sentences, strict=True)
        if start < citation.end and citation.start < end
    ]
    return any(scores) or not scores
