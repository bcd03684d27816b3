"""The graph's ports: what the nodes need from outside, one async method each.

``app/bootstrap/compose.py`` makes them and binds them when the graph is built. They raise only errors of
``graph.errors`` for known failures, and finish, or raise, before ``question.deadline``.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from answering.ports import ClaimReader, PassageReader
from answering.relevance.graders import Calibration
from answering.types import Chunk, Draft, Question, SubqueryResults, TokenCallback


class Retriever(Protocol):
    """Finds the chunks nearest to a question, with everything measured that grading needs."""

    async def retrieve(self, question: Question) -> tuple[SubqueryResults, ...]:
        """Return the candidates for each of ``question.sub_questions``; no chunks when the collection is empty.

        With ``question.background`` these may be those for ``question.text`` instead, whichever is nearer to them.
        Raises ``StoreUnavailable``, ``CollectionMissing`` or ``EmbeddingUnavailable``.
        """


class Grader(Protocol):
    """Gives every chunk its ``relevance``: how surely it is about what is asked, scaled so that .8 is the bar."""

    async def grade(self, question: Question, assessed: Sequence[SubqueryResults]) -> list[Chunk]:
        """Return every candidate once with ``relevance`` set, best first. Raises ``RerankFailed``.

        ``answers`` is None where the grader's own scores take the place of the relevance that was assessed.
        """


class Synthesizer(Protocol):
    """Writes the answer from the chunks that passed, and says which of them each sentence rests on."""

    async def synthesize(
        self,
        question: Question,
        chunks: Sequence[Chunk],
        assessed: Sequence[SubqueryResults],
        emit: TokenCallback | None,
    ) -> Draft:
        """Return the draft over ``chunks``; await ``emit`` with each piece. Without ``emit`` nothing need be streamed.

        Raises ``ModelUnavailable``, ``SynthesisTimeout`` or ``SynthesisFailed``.
        """


class Rewriter(Protocol):
    """Rewrites a follow-up question so that it can be understood by itself."""

    async def rewrite(self, question: str, earlier: Sequence[str], deadline: float) -> str:
        """Return *question* complete, given the *earlier* questions of its conversation, oldest first.

        *deadline* is in seconds of ``time.monotonic``. Raises ``SynthesisFailed``, also for a reply of no use.
        """


@dataclass(frozen=True, slots=True)
class Ports:
    """All ports of one graph."""

    retriever: Retriever
    grader: Grader
    synthesizer: Synthesizer
    extractor: Synthesizer | None = None
    """Answers in the passages' own sentences where the synthesizer, a chat model, declines or is not supported."""
    reader: PassageReader | None = None
    """Reads the best chunks for the question before they are graded."""
    calibration: Calibration | None = None
    """Fitted models by which every chunk is assessed before they are graded."""
    verifier: ClaimReader | None = None
    """Reads what is cited for a sentence of the answer."""
    second_verifier: ClaimReader | None = None
    """Reads it too where the first one is unsure."""
    rewriter: Rewriter | None = None
    """Rewrites follow-up questions; without one they are completed with words of the question before."""
