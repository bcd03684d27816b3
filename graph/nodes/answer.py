"""Write the answer from the chunks that passed, verify it, and finish it; or say that there is none."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from langgraph.config import get_stream_writer

from answering.evidence.beside import affirms_what_is_denied, of_other_chunks, quote_in_common
from answering.evidence.verify import VerifiedSentence, copied, verify
from answering.ports import ClaimReader
from answering.relevance.counted_rows import ASKS_COUNT, has_rows_to_count
from answering.relevance.graders import measured_confidence, model_confidence, quote_an_answer
from answering.render import cite_by_document, numbered, snippet
from answering.types import Chunk, Citation, Draft
from graph.errors import Outcome
from graph.ports import Synthesizer
from graph.state import Context, State, Update

SHARE_OF_TIME = 0.5
"""Share of the remaining time that the reader may take; past it, the lexical overlap decides."""
NOTHING_FOUND = "Nothing was found in the documents about this question."
NOT_SURE = "Not sure: the documents have something close to this question, but nothing that surely answers it."
"""The answers where nothing is cited (contract, Interface Q: "a plain no-answer sentence")."""
NOT_COUNTED = (
    "Not counted: the documents have a table whose rows this question may count, but it is not certain which of them, "
    "or whether these are all."
)
"""The answer where the rows of a table would have to be counted."""
CLOSE = 0.7
"""Least relevance of something close. Of documents nothing off topic has it: ``docs/relevance.md``."""
UNVERIFIED = "The model wrote an answer, but it could not be verified against the documents, so it is not shown."
"""The answer where a model answered and none of its citations holds."""


async def synthesize(state: State, context: Context, *, synthesizer: Synthesizer) -> Update:
    """Fill ``draft``; stream its text in pieces where the run is streamed."""
    write = get_stream_writer()

    async def emit(text: str) -> None:
        write({"token": text})

    callback = emit if context.stream else None
    draft = await synthesizer.synthesize(state["question"], state["graded"], state["subquery_results"], callback)
    return {"draft": draft}


async def cite(
    state: State,
    _: Context,
    *,
    reader: ClaimReader | None,
    second: ClaimReader | None = None,
    extractor: Synthesizer | None = None,
) -> Update:
    """Fill ``pieces``, ``citations``, ``unsupported``; finish the answer, or say by ``outcome`` why there is none.

    With *extractor*, a model's answer is followed by the passages' own where it does not rest on that one.
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
    stream_verified(verified, citations)
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
    own: list[Draft] = []  # the passages' answer to each sub-question
    if extractor and draft.by_model:
        own = [await extractor.synthesize(question, chunks, [results], None) for results in state["subquery_results"]]
    confidence = draft.confidence
    if confidence is None:
        graded = any(chunk.answers is not None for chunk in chunks)
        answering = max((answer.confidence or 0.0 for answer in own), default=None) if graded else None
        confidence = model_confidence(measured_confidence([sentence.support for sentence in verified], answering))
    update["confidence"] = round(confidence, 4)
    if confidence < question.min_confidence:
        return {**update, "outcome": "low_confidence"}
    if draft.by_model and removed and not quote_an_answer(citations, chunks):
        return {**update, "outcome": "no_citations"}
    if extractor and own and question.attribution == "verified":
        beside = await passages_beside(state, verified, extractor, own)
        if affirms_what_is_denied(verified, beside):
            written = [sentence.text for sentence in verified if sentence.text]
            return {**update, "unsupported": [*update["unsupported"], *written], "outcome": "no_citations"}
        cited = len(citations)
        citations, pieces = cite_by_document([*verified, *beside], chunks)
        stream_verified(beside, citations[cited:])
        update |= {"pieces": pieces, "citations": citations}
    answer = numbered(pieces, citations)
    return {**update, "markers": answer.markers, **ended(state, "answered", answer.text, citations)}


async def passages_beside(
    state: State, verified: Sequence[VerifiedSentence], extractor: Synthesizer, own: Sequence[Draft]
) -> list[VerifiedSentence]:
    """Return the best sentence of each passage of *own* answers, with what leads it in, unless *verified* quotes it.

    A small model may write of what is only near the question, in sentences that are true.
    """
    chunks, briefly = state["graded"], replace(state["question"], max_tokens=1)  # the best sentence alone
    found: list[VerifiedSentence] = []
    for results, answer in zip(state["subquery_results"], own, strict=True):
        best = await extractor.synthesize(briefly, chunks, [results], None)
        for draft in (best.sentences, of_other_chunks(answer.sentences, best.sentences)):
            sentences = [copied(sentence, chunks) for sentence in draft]
            if sentences and not quote_in_common(verified, sentences):
                found += [replace(sentences[0], before=f"\n\n{sentences[0].before}"), *sentences[1:]]
    return found


async def extract(state: State, _: Context, *, extractor: Synthesizer | None) -> Update:
    """Replace the ``draft`` of a chat model that declined or is not supported by one in the passages' own sentences.

    It has no sentence where the passages do not surely answer either.
    """
    assert extractor is not None  # the route to this node is taken only with one
    draft = await extractor.synthesize(state["question"], state["graded"], state["subquery_results"], None)
    return {"draft": draft, "outcome": state.get("outcome") or "no_citations"}


async def no_answer(state: State, _: Context) -> Update:
    """Answer that there is none; ``outcome`` says why, by how far the question came."""
    if not state.get("graded"):
        return declined(state, "no_relevant_chunks")
    if outcome := state.get("outcome"):  # of ``cite``
        return declined(state, outcome)
    return declined(state, "no_citations" if state["draft"].confidence is None else "low_confidence")


async def fail(state: State, _: Context) -> Update:
    """End without an answer, with the failure's outcome."""
    return ended(state, state["failure"].outcome, None)


def stream_verified(verified: Sequence[VerifiedSentence], citations: Sequence[Citation]) -> None:
    """Stream each cited sentence with its citations."""
    write = get_stream_writer()
    following = iter(citations)
    for sentence in verified:
        if sentence.text and sentence.supported:
            cited = [next(following) for _ in sentence.supported]
            write({"verified": {"sentence": sentence.text, "citations": cited}})


def declined(state: State, outcome: Outcome) -> Update:
    """End a question without an answer that may be shown."""
    written = bool(state.get("unsupported"))
    close = [chunk for chunk in state.get("chunks") or () if (chunk.relevance or 0.0) >= CLOSE]
    asked = [part for part in state["question"].sub_questions if ASKS_COUNT.search(part)]
    if any(has_rows_to_count(part, chunk) for part in asked for chunk in close):
        return ended(state, outcome, NOT_COUNTED)
    return ended(state, outcome, UNVERIFIED if written else NOT_SURE if close else NOTHING_FOUND)


def ended(state: State, outcome: Outcome, answer: str | None, citations: Sequence[Citation] = ()) -> Update:
    """Fill the keys of the public end; ``processingTimeMs`` is from ``validate`` on. No other code computes them."""
    question = state.get("question")
    elapsed = time.monotonic() - question.started if question else 0.0
    return {
        "answer": answer,
        "citedDocuments": cited_documents(citations, state.get("graded") or ()),
        "metadata": {
            "processingTimeMs": max(1, round(elapsed * 1000)),
            "answerSynthesized": outcome == "answered",
            "chunksRetrieved": len(state.get("chunks") or ()),
        },
        "outcome": outcome,
        "citations": list(citations),
    }


def cited_documents(citations: Sequence[Citation], chunks: Sequence[Chunk]) -> list[dict[str, Any]]:
    """List the cited documents by first citation, with a snippet of the first cited chunk."""
    texts = {chunk.chunk_id: chunk.text for chunk in chunks}
    first = {citation.marker: citation for citation in reversed(citations)}
    return [
        {
            "id": citation.document_id,
            "title": citation.title,
            "snippet": snippet(texts[citation.chunk_id], citation.start, citation.end),
            "url": citation.url,
        }
        for _, citation in sorted(first.items())
    ]
