"""Whether the quantities of a claim are those of its quote."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from graph.evidence.number_words import SAME_AS
from graph.evidence.quantities import Quantity


def disagreement(
    claim: Sequence[Quantity], quote: Sequence[Quantity], also: frozenset[str]
) -> Literal["number", "unit", "bound"] | None:
    """Why the quantities of *claim* are not those of *quote*: "number", "unit" or "bound"; None when they are.

    *also* are further values that may stand in the claim: those of the document's title, "a" where the quote has an
    article or "single".
    """
    values = {q.value for q in quote} | also
    for wanted in claim:
        if wanted.value not in values and not SAME_AS.get(wanted.value, frozenset()) & values:
            return "number"
        same = [q for q in quote if q.value == wanted.value]
        if wanted.unit and same and all(q.unit and q.unit != wanted.unit for q in same):
            return "unit"
        if wanted.bound and same and all(q.bound and q.bound != wanted.bound for q in same):
            return "bound"
        if wanted.after and not _beside(wanted.after, wanted.value, [q.value for q in quote]):
            return "number"  # "23–17" of "23–16 … 17 seconds"
        counted = {q.noun for q in same}
        if wanted.noun and same and wanted.noun not in counted and any(q.noun == wanted.noun for q in quote):
            return "number"  # "5 apples and 7 pears" told as "7 apples"
    return None


def _beside(first: str, second: str, values: Sequence[str]) -> bool:
    """Whether the two stand next to each other among *values*, in either order."""
    return any({first, second} == {left, right} for left, right in pairwise(values))
