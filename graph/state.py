"""The state of a run: plain data that Studio can show.

``Input → State``. A node sets its own keys. Values are readable (similarities, offsets), never vectors.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, NotRequired

from langgraph.channels import EphemeralValue
from typing_extensions import TypedDict

from graph.errors import Outcome, RAGError
from graph.policy import MIN_CONFIDENCE, RELEVANCE_THRESHOLD


@dataclass(frozen=True, slots=True)
class Question:
    """A question that has passed every rule of the Query API.

    ``sub_questions`` are the questions it asks: itself, or those of a compound one. ``background``: more is said in
    ``text`` than is asked; it is searched too, and the nearer of the two is read. ``added`` are the stems that
    follow-ups ("and for contractors?") added to the question before: an extractive answer shows all of them.
    ``started`` and ``deadline`` are seconds of ``time.monotonic``; every stage gets what is left.
    """

    text: str
    sub_questions: tuple[str, ...]
    max_sources: int
    max_tokens: int | None
    source: str | None
    started: float
    deadline: float
    relevance_threshold: float = RELEVANCE_THRESHOLD
    min_confidence: float = MIN_CONFIDENCE
    background: bool = False
    added: tuple[str, ...] = ()

    @property
    def searched(self) -> tuple[str, ...]:
        """The texts to search: every sub-question, and with ``background`` the whole text as the last."""
        return (*self.sub_questions, self.text) if self.background else self.sub_questions


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """The reader's logits for one passage as an answer.

    ``sentences`` has a score each, ``null`` is that of "none of them", ``answerable`` that of the passage.
    """

    sentences: tuple[float, ...]
    null: float
    answerable: float


@dataclass(frozen=True, slots=True)
class Chunk:
    """One retrieved segment of a document, with what was measured of it for the question.

    ``similarity`` is the cosine of question and chunk, as measured. ``keyword`` is BM25 over the highest BM25 the
    question could reach, in [0, 1]; 0 where the store holds no sparse vectors. ``spans`` are the sentences of ``text``
    as (start, end) in Unicode code points; ``span_similarities`` the cosine of question and sentence, same order.
    ``near_duplicates`` are the ids of other retrieved chunks with a cosine above .9. ``read`` is None if unread.
    """

    chunk_id: str
    document_id: str
    title: str
    text: str
    url: str | None = None
    chapter: str | None = None
    section: str | None = None
    page: int | None = None
    chunk_index: int | None = None
    source: str | None = None
    similarity: float = 0.0
    keyword: float = 0.0
    spans: tuple[tuple[int, int], ...] = ()
    span_similarities: tuple[float, ...] = ()
    near_duplicates: tuple[str, ...] = ()
    relevance: float | None = None
    read: ReadPassage | None = None

    @property
    def sentences(self) -> list[str]:
        """The sentences of the chunk, verbatim."""
        return [self.text[start:end] for start, end in self.spans]

    @property
    def headings(self) -> str:
        """Title, chapter and section on one line."""
        return " | ".join(dict.fromkeys(part for part in (self.title, self.chapter, self.section) if part))


@dataclass(frozen=True, slots=True)
class SubqueryResults:
    """One sub-question and its candidates as measured against it, best first by the fused score."""

    question: str
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """What the synthesizer wrote, not yet verified.

    ``text`` cites the chunk numbers 1..n of ``State["graded"]``. ``truncated``: the model was cut off, and the last
    sentence may be unfinished. ``confidence`` is the calibrated probability that the chunks answer the question, None
    where the synthesizer does not know it. ``dropped_chunks`` did not fit the model's context.
    """

    text: str
    truncated: bool = False
    confidence: float | None = None
    dropped_chunks: int = 0


@dataclass(frozen=True, slots=True)
class Citation:
    """One verified citation: a sentence of the answer, and the chunk's sentence that supports it.

    ``marker`` is the 1-based position of the document in ``citedDocuments``. ``quote`` is exactly
    ``chunk.text[start:end]``; ``support`` in [0, 1] is how well the quote carries ``sentence``.
    """

    marker: int
    document_id: str
    chunk_id: str
    sentence: str
    quote: str
    start: int
    end: int
    support: float
    title: str
    source: str
    page: int | None = None
    section: str | None = None
    url: str | None = None


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure as a value: the error's class name, and what may be shown."""

    error_type: str
    outcome: Outcome
    message: str
    details: dict[str, Any] = field(default_factory=dict)


def failure_of(error: RAGError) -> Failure:
    """Return *error* as a value: class name, outcome, and message for clients."""
    if error.outcome is None:
        raise error
    return Failure(type(error).__name__, error.outcome, error.message, dict(error.details))


class Input(TypedDict):
    """The input of a run, named as in ``POST /query``; only ``query`` is required.

    Optional fields are ephemeral, so that the next run on the same thread of Studio does not inherit them.
    """

    query: str
    maxSources: NotRequired[Annotated[int | None, EphemeralValue]]
    maxTokens: NotRequired[Annotated[int | None, EphemeralValue]]
    source: NotRequired[Annotated[str | None, EphemeralValue]]
    requestId: NotRequired[Annotated[str | None, EphemeralValue]]


def timed(before: dict[str, float], now: dict[str, float]) -> dict[str, float]:
    """Merge the milliseconds of a run's nodes; ``validate`` starts a new run."""
    return now if "validate" in now else before | now


class State(Input):
    """Everything the nodes set, in the order they run; a run ends with the body of ``POST /query`` and its outcome.

    ``history`` alone lasts beyond a run: the questions asked so far on this thread, oldest first, each as one that
    stands alone. ``rewritten`` is the question as it was understood, where that differs from the one asked.
    """

    history: NotRequired[list[str]]
    rewritten: NotRequired[str]
    question: NotRequired[Question]
    subquery_results: NotRequired[list[SubqueryResults]]
    chunks: NotRequired[list[Chunk]]
    graded: NotRequired[list[Chunk]]
    draft: NotRequired[Draft]
    pieces: NotRequired[list[str | int]]
    citations: NotRequired[list[Citation]]
    unsupported: NotRequired[list[str]]
    confidence: NotRequired[float]
    failure: NotRequired[Failure]
    answer: str | None
    citedDocuments: list[dict[str, Any]]
    metadata: dict[str, Any]
    outcome: Outcome
    timings: NotRequired[Annotated[dict[str, float], timed]]


Update = dict[str, Any]
"""The keys that a node sets."""
Step = Callable[[State], Awaitable[Update]]
