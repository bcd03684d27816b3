"""Whether the quantities of a claim are those of its quote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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
    there: dict[str, _Uses] = {}
    for q in quote:
        there.setdefault(q.value, _Uses()).add(q)
    values = there.keys() | also
    nouns = {q.noun for q in quote}
    neighbours = {frozenset(pair) for pair in pairwise(q.value for q in quote)}
    for wanted in dict.fromkeys(claim):
        if wanted.value not in values and not SAME_AS.get(wanted.value, frozenset()) & values:
            return "number"
        same = there.get(wanted.value)
        if wanted.unit and same and _excluded(wanted.unit, same.units):
            return "unit"
        if wanted.bound and same and _excluded(wanted.bound, same.bounds):
            return "bound"
        if wanted.after and frozenset((wanted.after, wanted.value)) not in neighbours:
            return "number"  # "23–17" of "23–16 … 17 seconds"
        if wanted.noun and same and wanted.noun not in same.nouns and wanted.noun in nouns:
            return "number"  # "5 apples and 7 pears" told as "7 apples"
    return None


@dataclass(slots=True)
class _Uses:
    """With which units, bounds and nouns one value stands in a quote; None where it has none."""

    units: set[str | None] = field(default_factory=set)
    bounds: set[str | None] = field(default_factory=set)
    nouns: set[str | None] = field(default_factory=set)

    def add(self, quantity: Quantity) -> None:
        self.units.add(quantity.unit)
        self.bounds.add(quantity.bound)
        self.nouns.add(quantity.noun)


def _excluded(wanted: str, there: set[str | None]) -> bool:
    """Whether all there are is others."""
    return None not in there and wanted not in there
