"""The error tree below ``RAGError``: every failure that the service knows by name.

    RAGError
    ├── ConfigurationError          stops the start
    ├── InvalidInput                a rule on the question or its options
    │   ├── UnknownSource
    │   └── UnknownCollection
    ├── Overloaded                  every slot is taken
    ├── RetrievalFailed             an outage, never "nothing found"
    │   ├── StoreUnavailable
    │   │   └── StoreDamaged
    │   ├── CollectionMissing
    │   └── EmbeddingUnavailable
    ├── RerankFailed
    └── SynthesisFailed
        ├── ModelUnavailable
        ├── ModelLoading
        └── SynthesisTimeout

Messages are safe to show: vendors' texts stay in ``__cause__`` and, bounded and without secrets, in ``cause_text``.
An error outside this tree is a defect and is raised.
"""

from typing import ClassVar, Literal

Outcome = Literal[
    "answered",
    "no_relevant_chunks",
    "no_citations",
    "low_confidence",
    "invalid_input",
    "retrieval_failed",
    "rerank_failed",
    "synthesis_failed",
    "synthesis_timeout",
    "overloaded",
]
"""How a question ended; the same word in every interface (contract, "One graph")."""


class RAGError(Exception):
    """The root. ``message`` may be shown to a client; ``details`` holds JSON values only.

    ``cause_text``, for terminal and log alone: the address that was asked, and what the provider said.
    """

    outcome: ClassVar[Outcome | None] = None
    cause_text: str | None = None

    def __init__(self, message: str, **details: object) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


class ConfigurationError(RAGError):
    """A setting is wrong, or names what is missing or does not fit; stops the start with exit status 2."""


class InvalidInput(RAGError):
    """A rule on the question or its options is broken; ``details["field"]`` names which."""

    outcome = "invalid_input"

    def __init__(self, message: str, field: str, **details: object) -> None:
        super().__init__(message, field=field, **details)


class UnknownSource(InvalidInput):
    """No stored document has the id or name that was asked for; ``nearest`` are some that look like it."""


class UnknownCollection(InvalidInput):
    """The caller can choose no such collection; ``collections`` are those that there are for this caller."""


class Overloaded(RAGError):
    """Every slot is taken; ``retryAfterSeconds`` says when to try again."""

    outcome = "overloaded"

    def __init__(self, retry_after: int = 1) -> None:
        """*retry_after* is in seconds."""
        super().__init__("The service is busy. Please try again shortly.", retryAfterSeconds=retry_after)


class RetrievalFailed(RAGError):
    """The search for chunks failed: an outage, never "nothing found"."""

    outcome = "retrieval_failed"


class StoreUnavailable(RetrievalFailed):
    """The vector store cannot be reached or answered with an error."""


class StoreDamaged(StoreUnavailable):
    """The embedded store's files are damaged; the message names the damage and the repair command."""


class CollectionMissing(RetrievalFailed):
    """The store answers, but does not hold the configured collection."""


class EmbeddingUnavailable(RetrievalFailed):
    """The embedding model cannot be reached, or failed to embed the question."""


class RerankFailed(RAGError):
    """The reranker did not answer."""

    outcome = "rerank_failed"


class SynthesisFailed(RAGError):
    """The chat model gave no usable answer."""

    outcome: ClassVar[Outcome | None] = "synthesis_failed"


class ModelUnavailable(SynthesisFailed):
    """The chat model cannot be reached, or its server does not have it."""


class ModelLoading(SynthesisFailed):
    """The chat model was not in memory within an answer's time; ``retryAfterSeconds`` says when to try again."""

    outcome = "synthesis_timeout"

    def __init__(self, retry_after: int) -> None:
        """*retry_after* is in seconds."""
        super().__init__("The chat model is loading.", retryAfterSeconds=retry_after)


class SynthesisTimeout(SynthesisFailed):
    """The chat model did not finish within its total time."""

    outcome = "synthesis_timeout"
