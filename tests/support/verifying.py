"""A model's text, verified: what every test of evidence works on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from answering.evidence.support import Quote
from answering.evidence.verify import VerifiedSentence, verify
from answering.markers.draft import read_draft
from answering.ports import PassageReader
from answering.types import Chunk


async def verified(
    text: str, chunks: Sequence[Chunk], *, reader: PassageReader | None = None, truncated: bool = False, **options: Any
) -> list[VerifiedSentence]:
    """The sentences of a model's *text* after verification."""
    return await verify(read_draft(text, chunks, truncated=truncated), chunks, reader=reader, **options)


def quotes_of(sentences: Sequence[VerifiedSentence]) -> list[Quote]:
    """The quotes that the sentences are cited to."""
    return [quote for sentence in sentences for _, (_, quote) in sentence.supported]


def removed(sentences: Sequence[VerifiedSentence]) -> list[str]:
    """What was taken out."""
    return [sentence.removed for sentence in sentences if sentence.removed]


def supports(sentences: Sequence[VerifiedSentence]) -> list[float]:
    """The support of each sentence that states something."""
    return [sentence.support for sentence in sentences if sentence.support is not None]
