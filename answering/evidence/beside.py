"""Compare the verified sentences of a model with those by which the passages answer."""

import re
from collections.abc import Sequence

from answering.evidence.edits import denies
from answering.evidence.support import Quote
from answering.evidence.verify import VerifiedSentence
from answering.types import CitedSentence

_YES = re.compile(r"\W*yes\b", re.IGNORECASE)
_RESTRICTS = re.compile(r"\b(?:only|prohibited|forbidden|banned)\b", re.IGNORECASE)


def quote_in_common(some: Sequence[VerifiedSentence], others: Sequence[VerifiedSentence]) -> bool:
    """Whether a quote of *some* overlaps one of *others*."""
    return any(
        quote.chunk_id == other.chunk_id and quote.start < other.end and other.start < quote.end
        for quote in _quotes(some)
        for other in _quotes(others)
    )


def of_other_chunks(some: Sequence[CitedSentence], others: Sequence[CitedSentence]) -> list[CitedSentence]:
    """Return the sentences of *some* that are copied from chunks of which *others* copy none."""
    taken = {source.chunks for sentence in others for source in sentence.sources}
    copied = [sentence for sentence in some if sentence.sources]
    return [sentence for sentence in copied if taken.isdisjoint(source.chunks for source in sentence.sources)]


def affirms_what_is_denied(verified: Sequence[VerifiedSentence], others: Sequence[VerifiedSentence]) -> bool:
    """Whether *verified* says "Yes", and *others*, which answer too, deny or restrict: "may only be used by staff"."""
    affirms = any(_YES.match(sentence.text) and not denies(sentence.text) for sentence in verified)
    return affirms and any(denies(sentence.text) or _RESTRICTS.search(sentence.text) for sentence in others)


def _quotes(verified: Sequence[VerifiedSentence]) -> list[Quote]:
    return [quote for sentence in verified for _, (_, quote) in sentence.supported]
