"""The public end of a run: the same ``answer``, ``citedDocuments`` and ``metadata`` as ``POST /query``."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from graph.errors import Outcome
from graph.state import Chunk, Citation, Failure, State
from graph.steps import Update

NO_ANSWER = "The documents do not contain an answer to this question."
"""What a person reads where nothing is cited (contract, Door Q: "a plain no-answer sentence")."""

UNVERIFIED = "The model wrote an answer, but it could not be verified against the documents, so it is not shown."
"""What a person reads where a model answered and no citation of it holds."""

SNIPPET_CHARS = 300
"""Length of a cited document's snippet, in code points."""


def answered(state: State, text: str, citations: Sequence[Citation]) -> Update:
    """The end of an answered question: *text* with its markers, and one entry per cited document."""
    return {
        "answer": text,
        "citedDocuments": cited_documents(citations, state["graded"]),
        "metadata": metadata(state, synthesized=True),
        "outcome": "answered",
    }


def declined(state: State, outcome: Outcome) -> Update:
    """The end of a question without an answer that may be shown: no citation stands beside it."""
    return {
        "answer": UNVERIFIED if outcome == "no_citations" and not _refuses(state) else NO_ANSWER,
        "citedDocuments": [],
        "metadata": metadata(state, synthesized=False),
        "outcome": outcome,
        "citations": [],
    }


def _refuses(state: State) -> bool:
    """Whether the model says, as its prompt asks it to, that the chunks hold no answer."""
    text = state["draft"].text.strip().lower().replace("\u2019", "'").strip("*\"' ")
    return not text or text.startswith("i don't know")


def failed(state: State, failure: Failure) -> Update:
    """The end of a question that could not be worked on; ``failure`` in the state says why."""
    return {
        "answer": None,
        "citedDocuments": [],
        "metadata": metadata(state, synthesized=False),
        "outcome": failure.outcome,
        "citations": [],
    }


def cited_documents(citations: Sequence[Citation], chunks: Sequence[Chunk]) -> list[dict[str, Any]]:
    """One entry per document, in the order of first citation; the snippet is from its first cited chunk."""
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
    """At most ``SNIPPET_CHARS`` of *text*, cut between words, in which the quote at *start*:*end* is in sight.

    A short text is returned whole; an ellipsis stands where something was left out. Of a quote that is longer than a
    snippet, its beginning is shown.
    """
    if len(text) <= SNIPPET_CHARS:
        return text
    room = SNIPPET_CHARS - 2
    first = max(0, min(start - max(0, room - (end - start)) // 2, len(text) - room))
    if first:
        space = text.find(" ", first, start)
        first = space + 1 if space >= 0 else start
    last = min(len(text), first + room)
    if last < len(text):
        space = text.rfind(" ", max(first + 1, end), last + 1)
        last = space if space >= 0 else last
    return f"{'…' if first else ''}{text[first:last].strip()}{'…' if last < len(text) else ''}"


def metadata(state: State, *, synthesized: bool) -> dict[str, Any]:
    """The three members of the document, with ``processingTimeMs`` as seen from inside the graph."""
    question = state.get("question")
    elapsed = time.monotonic() - question.started if question else 0.0
    return {
        "processingTimeMs": max(1, round(elapsed * 1000)),
        "answerSynthesized": synthesized,
        "chunksRetrieved": len(state.get("chunks") or ()),
    }
