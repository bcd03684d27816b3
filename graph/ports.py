"""What the nodes ask of the outside world: three ports, one async method each.

``app/bootstrap/compose.py`` makes them from LangChain's own types and binds them when the graph is built. They
raise only errors of ``graph.errors`` for what it knows, and must finish, or raise, before ``deadline``
(``time.monotonic`` seconds).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from graph.state import Chunk, Draft, Question, ReadPassage, SubqueryResults


@dataclass(frozen=True, slots=True)
class Retrieved:
    """What the search brought: one ``SubqueryResults`` per part of the question, each best first by the fused score."""

    subquery_results: tuple[SubqueryResults, ...]


class Retriever(Protocol):
    """Finds the chunks nearest to a question, with everything grading needs already measured on them."""

    async def retrieve(self, question: Question) -> Retrieved:
        """Return the pool of candidates for each of ``question.parts``; no chunks when the collection is empty.

        Raises ``StoreUnavailable``, ``CollectionMissing`` or ``EmbeddingUnavailable``.
        """
        ...


class Grader(Protocol):
    """Gives every chunk its ``relevance``, the calibrated probability that it is about what is asked."""

    async def grade(self, question: Question, retrieved: Retrieved) -> list[Chunk]:
        """Return every candidate once with ``relevance`` set, best first. Raises ``RerankFailed``."""
        ...


TokenSink = Callable[[str], Awaitable[None]]


def null_writer(_: Any) -> None:
    """The stream writer of a run that nobody watches."""


async def null_sink(text: str) -> None:
    """The sink of a run that nobody watches: who writes for it may write all at once."""


class Synthesizer(Protocol):
    """Writes the answer from the chunks that passed, citing them ``[1]``..``[n]``."""

    async def synthesize(
        self, question: Question, chunks: Sequence[Chunk], retrieved: Retrieved, emit: TokenSink
    ) -> Draft:
        """Return the draft over ``chunks``, numbered from 1 as given; ``emit`` takes each piece of text as it comes.

        Raises ``ModelUnavailable``, ``SynthesisTimeout`` or ``SynthesisFailed``.
        """
        ...


class Passage(NamedTuple):
    """What is read of a chunk: its title with the section, and its sentences."""

    title: str
    sentences: tuple[str, ...]


class PassageReader(Protocol):
    """Reads passages for a question, or for a statement that they may support."""

    async def read(self, question: str, passages: Sequence[Passage]) -> list[ReadPassage]:
        """Return what was read of each passage, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Ports:
    """Everything the graph reaches outside itself for; frozen, bound once."""

    retriever: Retriever
    grader: Grader
    synthesizer: Synthesizer
    reader: PassageReader | None = None
    """Reads the best chunks for the question before they are graded."""
    verifier: PassageReader | None = None
    """Reads what is cited for a sentence of the answer."""
