"""Write the public end of a run: ``answer``, ``citedDocuments`` and ``metadata`` as in ``POST /query``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from graph.errors import Outcome
from graph.state import Chunk, Citation, Failure, State
from graph.steps import Update

NO_ANSWER = "The documents do not contain an answer to this question."
"""The answer where nothing is cited (contract, Interface Q: "a plain no-answer sentence")."""

UNVERIFIED = "The model wrote an answer, but it could not be verified against the documents, so it is not shown."
"""The answer where a model answered and none of its citations holds."""

SNIPPET_CHARS = 300
"""Length of a cited document's snippet, in code points."""


def answered(state: State, text: str, citations: Sequence[Citation]) -> Update:
    """End an answered question: *text* with its markers, and one entry per cited document."""
    return {
        "answer": text,
        "citedDocuments": cited_documents(citations, state["graded"]),
        "metadata": metadata(state, synthesized=True),
        "outcome": "answered",
    }


def declined(state: State, outcome: Outcome) -> Update:
    """End a question without an answer that may be shown."""
    draft = state["draft"].text.lower().replace("\u2019", "'").strip("*\"' \n") if outcome == "no_citations" else ""
    refused = not draft or draft.startswith("i don't know")  # as the prompt asks the model to say
    return {"answer": NO_ANSWER if refused else UNVERIFIED, **_nothing_cited(state, outcome)}


def failed(state: State, failure: Failure) -> Update:
    """End a question that could not be processed; ``failure`` in the state says why."""
    return {"answer": None, **_nothing_cited(state, failure.outcome)}


def _nothing_cited(state: State, outcome: Outcome) -> Update:
    return {
        "citedDocuments": [],
        "metadata": metadata(state, synthesized=False),
        "outcome": outcome,
        "citations": [],
    }


def cited_documents(citations: Sequence[Citation], chunks: Sequence[Chunk]) -> list[dict[str, Any]]:
    """List the cited documents in the order of first citation, each with a snippet of its first cited chunk."""
    by_id = {chunk.chunk_id: chunk for chunk in chunks}
    documents: dict[int, dict[str, Any]] = {}
    for citation in citations:
        documents.setdefault(
            citation.marker,
            {
                "id": citation.document_id,
                "title": citation.title,
                "snippet": snippet(by_id[citation.chunk_id].text, citation.start, citation.end),
                "url": citation.url,
            },
        )
    return [documents[marker] for marker in sorted(documents)]


def snippet(text: str, start: int, end: int) -> str:
    """Cut at most ``SNIPPET_CHARS`` from *text* between words, around the quote at *start*:*end*.

    An ellipsis stands where something was left out. Of a quote longer than that, the beginning is shown.
    """
    if len(text) <= SNIPPET_CHARS:
        return text
    most = SNIPPET_CHARS - 2
    first = max(0, min(start - max(0, most - (end - start)) // 2, len(text) - most))
    if first:
        space = text.find(" ", first, start)
        first = space + 1 if space >= 0 else start
    last = min(len(text), first + most)
    if last < len(text):
        space = text.rfind(" ", max(first + 1, end), last + 1)
        last = space if space >= 0 else last
    return f"{'…' if first else ''}{text[first:last].strip()}{'…' if last < len(text) else ''}"


def metadata(state: State, *, synthesized: bool) -> dict[str, Any]:
    """Fill the document's three members; ``processingTimeMs`` is from ``validate`` on. No other code computes them."""
    question = state.get("question")
    elapsed = time.monotonic() - question.started if question else 0.0
    return {
        "processingTimeMs": max(1, round(elapsed * 1000)),
        "answerSynthesized": synthesized,
        "chunksRetrieved": len(state.get("chunks") or ()),
    }
