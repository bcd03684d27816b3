"""What a run takes, keeps and returns: plain data that Studio can show.

``Input → State → Output``; the service makes a ``Result`` of the last state. A node sets its own keys. Values are
readable (similarities, offsets), never vectors.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NotRequired

from langgraph.channels import EphemeralValue
from typing_extensions import TypedDict

from answering.types import Chunk, Citation, Draft, Question, SubqueryResults
from graph.errors import Outcome, RAGError


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure as a value: the error's class name, and what may be shown.

    ``_cause_text`` is the error's ``cause_text``; with its underscore it stays out of JSON, as of a run in Studio.
    """

    error_type: str
    outcome: Outcome
    message: str
    details: dict[str, Any] = field(default_factory=dict)
    _cause_text: str | None = field(default=None, repr=False)

    @property
    def cause_text(self) -> str | None:
        """What the provider said, for terminal and log alone."""
        return self._cause_text


def failure_of(error: RAGError) -> Failure:
    """Return *error* as a value: class name, outcome, and message for clients."""
    if error.outcome is None:
        raise error
    return Failure(type(error).__name__, error.outcome, error.message, dict(error.details), error.cause_text)


class Input(TypedDict):
    """The input of a run, named as in ``POST /query``; only ``query`` is required.

    ``earlierQuestions`` are those asked before in the same conversation, oldest first, as they were asked; a thread
    keeps its own. Optional fields are ephemeral, so that the next run on the same thread does not inherit them.
    """

    query: str
    history: NotRequired[list[str]]
    maxSources: NotRequired[Annotated[int | None, EphemeralValue]]
    maxTokens: NotRequired[Annotated[int | None, EphemeralValue]]
    source: NotRequired[Annotated[str | list[str] | None, EphemeralValue]]
    filters: NotRequired[Annotated[dict[str, Any] | None, EphemeralValue]]
    earlierQuestions: NotRequired[Annotated[list[str] | None, EphemeralValue]]
    collection: NotRequired[Annotated[str | None, EphemeralValue]]
    requestId: NotRequired[Annotated[str | None, EphemeralValue]]


def timed(before: dict[str, float], now: dict[str, float]) -> dict[str, float]:
    """Merge the milliseconds of a run's nodes; ``validate`` starts a new run."""
    return now if "validate" in now else before | now


class Output(TypedDict, total=False):
    """The end of a run: the body of ``POST /query`` and its outcome."""

    answer: str | None
    citedDocuments: list[dict[str, Any]]
    metadata: dict[str, Any]
    outcome: Outcome


class State(Input, Output):
    """Everything the nodes set, in the order they run.

    ``history``, in ``Input``, alone lasts beyond a run: the questions asked before, oldest first, each as one that
    stands alone. ``rewritten`` is the question as it was understood, where that differs from the one asked. ``pieces``
    is the answer cut at its citations; ``markers`` says for each citation where it stands in ``answer``.
    """

    rewritten: NotRequired[str]
    question: NotRequired[Question]
    subquery_results: NotRequired[list[SubqueryResults]]
    chunks: NotRequired[list[Chunk]]
    graded: NotRequired[list[Chunk]]
    draft: NotRequired[Draft]
    pieces: NotRequired[list[str | int]]
    citations: NotRequired[list[Citation]]
    markers: NotRequired[dict[int, list[tuple[int, int]]]]
    unsupported: NotRequired[list[str]]
    confidence: NotRequired[float]
    failure: NotRequired[Failure]
    timings: NotRequired[Annotated[dict[str, float], timed]]


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


@dataclass(frozen=True, slots=True)
class Context:
    """What a caller may choose for one run.

    ``stream``: the answer is wanted in pieces as it is written. ``attribution``: whose citations count, where that is
    not what the policy says.
    """

    stream: bool = True
    attribution: Literal["model", "verified"] | None = None


Update = dict[str, Any]
"""The keys that a node sets."""
Node = Callable[[State, Context], Awaitable[Update]]
