"""The types that the functions of this package take and return."""

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Literal, NamedTuple, Self

RELEVANCE_THRESHOLD = 0.8
"""Least relevance of a chunk that may answer (document Q, "Retrieval Strategy")."""
MIN_CONFIDENCE = 0.5
"""Least confidence of an answer that is given (document L, "Environment Variables")."""
TokenCallback = Callable[[str], Awaitable[None]]
"""Takes each piece of the answer's text as it comes, its citations numbered by document; provisional."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question that has passed every rule of the Query API.

    ``sub_questions`` are the questions it asks: itself, or those of a compound one. ``background``: more is said in
    ``text`` than is asked; it is searched too, and the nearer of the two is read. ``added`` are the stems that
    follow-ups ("and for contractors?") added to the question before: an extractive answer shows all of them.
    ``where`` narrows the search: values by metadata field, ``source`` and ``filters`` of the Query API together.
    ``collection`` names what is searched, None for the caller's default.
    ``started`` and ``deadline`` are seconds of ``time.monotonic``; every stage gets what is left.
    """

    text: str
    sub_questions: tuple[str, ...]
    max_sources: int
    max_tokens: int | None
    where: Mapping[str, Any] | None
    started: float
    deadline: float
    collection: str | None = None
    relevance_threshold: float = RELEVANCE_THRESHOLD
    min_confidence: float = MIN_CONFIDENCE
    background: bool = False
    added: tuple[str, ...] = ()
    attribution: Literal["model", "verified"] = "verified"


@dataclass(frozen=True, slots=True)
class ReadPassage:
    """The reader's logits: of each of ``sentences`` as the answer, of "none of them", and that the passage answers."""

    sentences: tuple[float, ...]
    null: float
    answerable: float

    @property
    def probabilities(self) -> tuple[float, ...]:
        """Each sentence's probability: a softmax over the sentences and "none of them"."""
        top = max((self.null, *self.sentences))
        raised = [math.exp(score - top) for score in (self.null, *self.sentences)]
        return tuple(share / sum(raised) for share in raised[1:])


class About(Enum):
    """Which of several alike a sentence is about: another than the question names, or the very one.

    ``LOOKED_UP``: the very one, in words of the question beside the name.
    """

    ANOTHER = auto()
    UNKNOWN = auto()
    NAMED = auto()
    LOOKED_UP = auto()


@dataclass(frozen=True, slots=True)
class Chunk:
    """One retrieved segment of a document, with what was measured of it for the question.

    ``similarity`` is the cosine of question and chunk, ``keyword`` BM25 over the highest BM25 the question could reach,
    in [0, 1], 0 without sparse vectors. ``spans`` are the sentences of ``text`` as (start, end) in Unicode code points;
    ``span_similarities`` the cosine of question and sentence, same order. ``near_duplicates`` are the ids of other
    retrieved chunks with a cosine above .9. ``about`` tells of each sentence which of several alike it is about; empty
    where they were not compared. ``reading`` is None if unread; ``can_answer`` tells for each sentence of a read chunk
    whether it can answer at all. ``scores`` say how well each sentence answers, once assessed, ``base_scores`` how near
    it is without the reader; ``relevance`` how surely the chunk is about the question, ``answers`` how probably it
    answers. ``dated``: its document's date, "~2025-05" of what is not in force. ``recognised``: read from a scan.
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
    dated: str = ""
    recognised: bool = False
    similarity: float = 0.0
    keyword: float = 0.0
    spans: tuple[tuple[int, int], ...] = ()
    span_similarities: tuple[float, ...] = ()
    near_duplicates: tuple[str, ...] = ()
    about: tuple[About, ...] = ()
    reading: ReadPassage | None = None
    can_answer: tuple[bool, ...] = ()
    scores: tuple[float, ...] = ()
    base_scores: tuple[float, ...] = ()
    relevance: float | None = None
    answers: float | None = None

    @property
    def sentences(self) -> list[str]:
        """The sentences of the chunk, verbatim."""
        return [self.text[start:end] for start, end in self.spans]

    @property
    def headings(self) -> str:
        """Title, chapter and section on one line."""
        return " | ".join(dict.fromkeys(part for part in (self.title, self.chapter, self.section) if part))


class FoundSentences(NamedTuple):
    """Sentences of ``chunk`` that answer by where they stand, whatever their words: their numbers."""

    chunk: Chunk
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SubqueryResults:
    """One sub-question and its candidates as measured against it, best first by the fused score.

    ``counted``: all rows that it counts, by chunk; ``looked_up``: the section, or the row with the highest or lowest
    value, that it asks for. Empty where that is not certain."""

    question: str
    chunks: tuple[Chunk, ...]
    counted: tuple[FoundSentences, ...] = ()
    looked_up: tuple[FoundSentences, ...] = ()


@dataclass(frozen=True, slots=True)
class Source:
    """What a sentence of a draft is said to rest on.

    ``chunks`` are 0-based positions among the chunks that were given; of several, any may support it (a document or a
    page was named). ``position`` is where in the sentence's text the citation stands, in code points; negative: in what
    stands before it. ``span`` is set where the sentence is copied: (start, end) in the text of its one chunk.
    """

    chunks: tuple[int, ...]
    position: int
    span: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """One sentence of a draft with its sources; ``before`` are the white space, bullet or table rule ahead of it."""

    text: str
    sources: tuple[Source, ...] = ()
    before: str = ""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a synthesizer wrote, not yet verified; without sentences it declines.

    ``confidence`` is the calibrated probability that the sentences answer the question, None where the synthesizer
    does not know it. ``dropped_chunks`` were not given to the model. ``by_model`` tells a chat model's sentences from
    the passages' own.
    """

    sentences: tuple[CitedSentence, ...] = ()
    confidence: float | None = None
    dropped_chunks: int = 0
    by_model: bool = False

    @property
    def text(self) -> str:
        """The sentences as one text, without citations."""
        return "".join(sentence.before + sentence.text for sentence in self.sentences)


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
    recognised: bool = False


class Passage(NamedTuple):
    """What the reader reads of a chunk: its title with the section, and its sentences."""

    title: str
    sentences: tuple[str, ...]

    @classmethod
    def of(cls, chunk: Chunk, sentences: Sequence[str]) -> Self:
        """Make the passage of *sentences* of *chunk*; the chapter tells which of several alike it is about."""
        is_named = not {About.NAMED, About.LOOKED_UP}.isdisjoint(chunk.about)
        names = dict.fromkeys(filter(None, (chunk.title, chunk.chapter if is_named else None, chunk.section)))
        return cls(" > ".join(names), tuple(sentences))
