"""The outcome of one question, before an interface writes it in its own format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from graph.errors import Outcome
from graph.state import Chunk, Citation, Failure


@dataclass(frozen=True, slots=True)
class Result:
    """The end of one question.

    ``answer`` cites by document (``[k]`` is the k-th of ``documents``); ``pieces`` is the same answer cut at its
    citations, for interfaces that write them otherwise. ``processing_ms`` is ``metadata.processingTimeMs``.
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

    @property
    def answered(self) -> bool:
        """Whether there is an answer with at least one verified citation."""
        return self.outcome == "answered"


@dataclass(frozen=True, slots=True)
class Event:
    """One step of a streamed answer.

    ``kind`` is "retrieval" (chunks), "token" (text), "node" (a node that ended, and the keys it set; only where asked
    for) or "result" (a ``Result``).
    """

    kind: str
    chunks: tuple[Chunk, ...] = ()
    text: str = ""
    result: Result | None = None
    node: str = ""
    update: dict[str, Any] = field(default_factory=dict)
