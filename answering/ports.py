"""What this package calls: the reader of passages."""

from typing import Protocol

from answering.types import Passage, ReadPassage


class ReadingFailed(Exception):
    """A reader did not read a passage."""


class ClaimReader(Protocol):
    """Reads a passage for a claim that it may support."""

    async def support(self, claim: str, passage: Passage) -> float:
        """Return the log-odds that *passage* supports *claim*. Raises ``ReadingFailed``."""


class PassageReader(ClaimReader, Protocol):
    """Reads a passage for a claim, or for a question."""

    async def read(self, question: str, passage: Passage) -> ReadPassage:
        """Return the logits of *passage* as an answer. Raises ``ReadingFailed``."""
