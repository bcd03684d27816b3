"""How sure one may be that an answer says what its documents say.

That the documents are right, or that the answer meets the question, is not in it: the first nobody here can know, the
second is for the two gates before.
"""

from __future__ import annotations

from collections.abc import Sequence


def confidence_of(supports: Sequence[float]) -> float:
    """The expected share of an answer's sentences that the documents carry; 0 for an answer that states nothing.

    A sentence without a citation counts with the support it would have, so that an answer is not doubted because its
    model is sparing with markers, but is for what no document says.
    """
    return sum(supports) / len(supports) if supports else 0.0
