"""Write the public end of a run: ``answer``, ``citedDocuments`` and ``metadata`` as in ``POST /query``."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from answering.render import snippet
from answering.types import Chunk, Citation
from graph.errors import Outcome
from graph.state import Failure, State, Update

NOTHING_FOUND = "Nothing was found in the documents about this question."
NOT_SURE = "Not sure: the documents have something close to this question, but nothing that surely answers it."
"""The answers where nothing is cited (contract, Interface Q: "a plain no-answer sentence")."""
CLOSE = 0.7
"""Least relevance of something close. Of documents nothing off topic has it: ``docs/relevance.md``."""
UNVERIFIED = "The model wrote an answer, but it could not be verified against the documents, so it is not shown."
"""The answer where a model answered and none of its citations holds."""


@dataclass(frozen=True, slots=True)
class Result:
    """The end of one question.

    ``answer`` cites by document (``[k]`` is the k-th of ``documents``); ``pieces`` is the same answer cut at its
    citations, for interfaces that write them otherwise; ``markers`` says for each citation where it stands in
    ``answer``, (start, end) in code points. ``answered_by`` says whose sentences these are. ``processing_ms`` is
    ``metadata.processingTimeMs``. ``rewritten`` is the question as it was understood, where a follow-up was asked.
    """

    outcome: Outcome
    request_id: str
    processing_ms: int
    answer: str | None = None
    documents: list[dict[str, Any]] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    pieces: list[str | int] = field(default_factory=list)
    markers: dict[int, list[tuple[int, int]]] = field(default_factory=dict)
    answered_by: Literal["model", "passages"] = "passages"
    chunks: list[Chunk] = field(default_factory=list)
    confidence: float = 0.0
    unsupported: list[str] = field(default_factory=list)
    dropped_chunks: int = 0
    timings: dict[str, float] = field(default_factory=dict)
    failure: Failure | None = None
    rewritten: str | None = None

    @property
    def answered(self) -> bool:
        """Whether there is an answer with at least one verified citation."""
        return self.outcome == "answered"


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a streamed answer.

    ``kind`` is "rewritten" or "token" (text), "retrieval" (chunks), "verified" (a sentence of the answer, and its
    citations), "node" (name and its update) or "result".
    """

    kind: str
    chunks: tuple[Chunk, ...] = ()
    text: str = ""
    citations: tuple[Citation, ...] = ()
    result: Result | None = None
    node: str = ""
    update: dict[str, Any] = field(default_factory=dict)


def declined(state: State, outcome: Outcome) -> Update:
    """End a question without an answer that may be shown."""
    written = bool(state.get("unsupported"))
    close = any((chunk.relevance or 0.0) >= CLOSE for chunk in state.get("chunks") or ())
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
