"""Write the public end of a run: ``answer``, ``citedDocuments`` and ``metadata`` as in ``POST /query``."""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

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
SNIPPET_CHARS = 300
"""Length of a cited document's snippet, in code points."""
_CLOSING = re.compile(r"(?<![.!?])[.!?][\"'”’)*_]{0,3}\Z")
_GOES_ON = re.compile(r"[ \t]*[^\W\d_A-Z]")
_ABBREVIATED = re.compile(r"\b[A-Za-z]\.[A-Za-z]\.\Z")
_NEAR = 8
"""Characters before a marker that are searched for the end of its sentence."""


@dataclass(frozen=True, slots=True)
class Result:
    """The end of one question.

    ``answer`` cites by document (``[k]`` is the k-th of ``documents``); ``pieces`` is the same answer cut at its
    citations, for interfaces that write them otherwise. ``processing_ms`` is ``metadata.processingTimeMs``.
    ``rewritten`` is the question as it was understood, where a follow-up was asked.
    """

    outcome: Outcome
    request_id: str
    processing_ms: int
    answer: str | None = None
    documents: list[dict[str, Any]] = field(default_factory=list)
    citations: list[Citation] = field(default_factory=list)
    pieces: list[str | int] = field(default_factory=list)
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

    ``kind`` is "rewritten" or "token" (text), "retrieval" (chunks), "node" (name and its update) or "result".
    """

    kind: str
    chunks: tuple[Chunk, ...] = ()
    text: str = ""
    result: Result | None = None
    node: str = ""
    update: dict[str, Any] = field(default_factory=dict)


def declined(state: State, outcome: Outcome) -> Update:
    """End a question without an answer that may be shown."""
    draft = state["draft"].text.lower().replace("\u2019", "'").strip("*\"' \n") if outcome == "no_citations" else ""
    refused = not draft or draft.startswith("i don't know")  # as the prompt asks the model to say
    close = any((chunk.relevance or 0.0) >= CLOSE for chunk in state.get("chunks") or ())
    return ended(state, outcome, (NOT_SURE if close else NOTHING_FOUND) if refused else UNVERIFIED)


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


def numbered(pieces: Sequence[str | int], citations: Sequence[Citation]) -> str:
    """Write markers as ``[k]``, the k-th cited document (Query API)."""
    return _render(pieces, citations, lambda citation: f"[{citation.marker}]")


def named(pieces: Sequence[str | int], citations: Sequence[Citation]) -> str:
    """Write markers as ``[safety_manual.pdf, page 5]``, or ``, section Y``, or the name alone (Library)."""
    return _render(pieces, citations, _source)


def _source(citation: Citation) -> str:
    """Name document and page of a citation; brackets in names become parentheses."""
    detail = f", section {citation.section}" if citation.section else ""
    detail = detail if citation.page is None else f", page {citation.page}"
    return f"[{' '.join((citation.source.strip() + detail).replace('[', '(').replace(']', ')').split())}]"


def _render(pieces: Sequence[str | int], citations: Sequence[Citation], write: Callable[[Citation], str]) -> str:
    """Join the pieces; markers follow their words and precede the full stop, without repeats."""
    runs = [list(run) for _, run in groupby(pieces, key=lambda piece: isinstance(piece, str))]
    out: list[str] = []
    for i, run in enumerate(runs):
        markers = dict.fromkeys(write(citations[index]) for index in run if isinstance(index, int))
        if not markers:
            out += [str(piece) for piece in run]
            continue
        words, end = "".join(out).rstrip(" \t"), ""
        after = str(runs[i + 1][0]) if i + 1 < len(runs) else ""
        near = max(0, len(words) - _NEAR)
        closing = _CLOSING.search(words, near)
        if closing and not _GOES_ON.match(after) and not _ABBREVIATED.search(words, near):
            words, end = words[: closing.start()], closing[0]
        gap = " " if words and not words.endswith("\n") else ""
        out = [f"{words}{gap}{''.join(markers)}{end}"]
    return "".join(out).strip()
