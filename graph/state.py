"""What travels through the graph: data only, and all of it plain JSON values.

``Input → State → Output``. A node adds its own keys and changes no other's. Studio shows these types as they are, so
they hold readable numbers (similarities, offsets) and never vectors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, NotRequired

from langgraph.channels import EphemeralValue
from typing_extensions import TypedDict

from graph.errors import Outcome
from graph.policy import MIN_CONFIDENCE, RELEVANCE_THRESHOLD


@dataclass(frozen=True, slots=True)
class Question:
    """A question that has passed every rule of door Q.

    ``parts`` are the questions it asks: itself, or the halves of a compound one. ``deadline`` is on the clock of
    ``time.monotonic``, in seconds; every stage gets what is left of it. The thresholds are those of the two gates.
    """

    text: str
    parts: tuple[str, ...]
    max_sources: int
    max_tokens: int | None
    source: str | None
    started: float
    deadline: float
    relevance_threshold: float = RELEVANCE_THRESHOLD
    min_confidence: float = MIN_CONFIDENCE


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """What the reader says of one passage, as logits.

    ``sentences`` has one score for each sentence, ``null`` is the score of "none of them". Of the passage as a whole,
    ``answerable`` says whether it answers a question, ``supported`` whether it carries a statement.
    """

    sentences: tuple[float, ...]
    null: float
    answerable: float
    supported: float = 0.0


@dataclass(frozen=True)
class Chunk:
    """One retrieved segment of a document, and what retrieval measured of it for the question.

    ``similarity`` is the cosine of question and chunk, as measured. ``keyword`` is BM25 over the highest BM25 the
    question could reach, in [0, 1]; 0 where the store holds no sparse vectors. ``spans`` are the sentences of ``text``
    as (start, end) in Unicode code points; ``span_similarities`` the cosine of question and sentence, same order.
    ``twins`` are the ids of other retrieved chunks that say nearly the same (cosine above .9). ``read`` is what the
    reader found in the chunk; None where it was not read.
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

    def having(self, **values: Any) -> Chunk:
        """The same chunk with these values, as ``dataclasses.replace`` makes it, for less (``bench/NOTES.md``).

        A question makes two of each of its candidates. The names are taken as they are given.
        """
        made = object.__new__(Chunk)
        made.__dict__.update(self.__dict__, **values)
        return made


@dataclass(frozen=True, slots=True, eq=False)
class SubqueryResults:
    """One question, or one part of it, and its candidates as measured against it, best first by the fused score.

    Compared by identity, so that what is computed of one reading is cheaply found again.
    """

    question: str
    chunks: tuple[Chunk, ...]


@dataclass(frozen=True, slots=True)
class Draft:
    """What the synthesizer wrote, before anything in it is believed.

    ``text`` cites the chunk numbers 1..n of ``State["graded"]``. ``truncated`` says the model was cut off, so that the
    last sentence may be torn. ``confidence`` is the calibrated probability that the chunks answer the question where
    the synthesizer knows it (the extractive one does), else None. ``dropped_chunks`` counts those that did not fit the
    model's context.
    """

    text: str
    truncated: bool = False
    confidence: float | None = None
    dropped_chunks: int = 0


@dataclass(frozen=True, slots=True)
class Citation:
    """One verified citation: a sentence of the answer, and the sentence of a stored chunk that supports it.

    ``marker`` is the 1-based place of the document in the answer's list of documents. ``quote`` is exactly
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
    """A failure as a value: which error of ``graph.errors``, and what may be said of it."""

    error_type: str
    outcome: Outcome
    message: str
    details: dict[str, Any] = field(default_factory=dict)


class Input(TypedDict):
    """What a run takes. Only ``query`` is required; the names are those of ``POST /query``.

    What is optional is forgotten once it was read: the next run on the same thread of Studio has not asked for it.
    """

    query: str
    maxSources: NotRequired[Annotated[int | None, EphemeralValue]]
    maxTokens: NotRequired[Annotated[int | None, EphemeralValue]]
    source: NotRequired[Annotated[str | None, EphemeralValue]]
    requestId: NotRequired[Annotated[str | None, EphemeralValue]]


class Output(TypedDict):
    """What a run leaves: the public answer, the same as the body of ``POST /query``, and how it ended."""

    answer: str | None
    citedDocuments: list[dict[str, Any]]
    metadata: dict[str, Any]
    outcome: Outcome


def timed(before: dict[str, float], now: dict[str, float]) -> dict[str, float]:
    """The milliseconds of a run's nodes; its first node begins them anew."""
    return now if "validate" in now else before | now


class State(Input, Output):
    """Everything the nodes leave behind, in the order they run."""

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
    timings: NotRequired[Annotated[dict[str, float], timed]]
