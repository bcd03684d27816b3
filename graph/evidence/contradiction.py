"""Whether a claim says something else than its quote, whatever words they share.

Each check is cheap and local, and looks for one kind of change: a number, a unit or a bound; a name; a denial; the
opposite word; more certainty than the quote has; a condition left out; an order to the reader taken for a statement.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from graph.evidence import polarity
from graph.evidence.alignment import exchanged
from graph.evidence.claims import Claim, claim_of, plain
from graph.evidence.demonyms import DEMONYMS
from graph.evidence.naming import abbreviates, letter_differs, missing, roles_differ
from graph.evidence.quantity_check import disagreement
from graph.evidence.statement import Statement
from graph.state import Chunk
from graph.terms import stem, stems

Reason = Literal[
    "number",
    "unit",
    "bound",
    "name",
    "roles",
    "denial",
    "opposite",
    "hedge",
    "duty",
    "all",
    "only",
    "condition",
    "order",
]
"""What was changed."""

_PRONOUNS = frozenset("he she it they his hers her its their him them this these that those who".split())
_SINGLE = frozenset("a an single sole individual".split())
_REST = 0.8
"""Share of the rest of a claim that its quote must have for an opening word it lacks to be a changed subject."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What may be said with a quote although it does not stand in it.

    ``title`` are the words over the chunk; ``before`` its text up to the quote; ``given`` the stems of the question.
    """

    chunk: Chunk
    title: str
    before: str
    given: frozenset[str]


def contradiction(claim: Claim, quote: Claim, around: Surroundings, *, alike: bool) -> Reason | None:
    """The first reason why *claim* is not what *quote* says, or None; only *alike* sentences are laid word on word."""
    titled = claim_of(around.title)
    return (
        _quantities(claim, quote, titled)
        or _names(claim, quote, titled, around)
        or _polarity(claim.statement, quote.statement, around.given)
        or (exchanged(claim.text, quote.text) if alike else None)
    )


def torn(claim: Claim, quote: Claim, given: frozenset[str]) -> Reason | None:
    """Why *claim*, a verbatim stretch of *quote*, is not what the whole of it says, or None."""
    return _polarity(claim.statement, quote.statement, given)


def _quantities(claim: Claim, quote: Claim, titled: Claim) -> Reason | None:
    also = titled.numbers | (frozenset("a") if quote.statement.words & _SINGLE else frozenset())
    return disagreement(claim.quantities, quote.quantities, also)


def _names(claim: Claim, quote: Claim, titled: Claim, around: Surroundings) -> Reason | None:
    if claim.text in quote.text:
        return None
    context = quote.statement.all_stems | titled.statement.all_stems
    if _refers_back(quote):
        context |= frozenset(map(stem, Statement.of(around.before).tokens))
    for run in missing(claim.names, context):
        if not _known_otherwise(run, context, quote, around):
            return "name"
    if letter_differs(claim.names, quote.text) or _subject_changed(claim, quote, context, around.chunk):
        return "name"
    names = frozenset(word for run in (*claim.names.runs, (claim.names.opening,)) for word in run if word in context)
    if len(names) > 1 and roles_differ(claim.statement.tokens, quote.statement.tokens, names):
        return "roles"
    return None


def _refers_back(quote: Claim) -> bool:
    """Whether *quote* opens with a pronoun, so that whom it is about stands further up."""
    return any(token in _PRONOUNS for token in quote.statement.tokens[:3])


def _known_otherwise(run: tuple[str, ...], context: frozenset[str], quote: Claim, around: Surroundings) -> bool:
    """Whether the name *run* is in the quote in another form: as an acronym, as a people, or in part."""
    lost = [word for word in run if word not in context and not DEMONYMS.get(word, frozenset()) & context]
    if not lost:
        return True
    if quote.statement.pairs.issuperset(lost):
        return True  # "Southeast" for "South East"
    if any(abbreviates(word, f"{around.title}. {quote.text}") for word in lost):
        return True
    if len(run) > 1 and "".join(word[0] for word in run) in context:
        return True
    if len(lost) < len(run):  # "Luke Kuechly" for "Kuechly", whose first name the chunk tells elsewhere
        return _stands_in(run, around.chunk)
    return False


def _stands_in(run: tuple[str, ...], chunk: Chunk) -> bool:
    return f" {' '.join(run)} " in _stemmed(chunk.text)


@lru_cache(maxsize=256)
def _stemmed(text: str) -> str:
    return f" {' '.join(stems(plain(text)))} "


def _subject_changed(claim: Claim, quote: Claim, context: frozenset[str], chunk: Chunk) -> bool:
    """Whether all but the claim's opening word is in the quote: then its subject was changed."""
    opening = claim.names.opening
    if opening is None or opening in context or DEMONYMS.get(opening, frozenset()) & context:
        return False
    rest = claim.statement.stems - {opening}
    if not rest or abbreviates(opening, quote.text):
        return False
    if claim.names.runs and _stands_in((opening, claim.names.runs[0][0]), chunk):  # "Derek Cha" for "Cha"
        return False
    return len(rest & context) / len(rest) > _REST


def _polarity(claim: Statement, quote: Statement, given: frozenset[str]) -> Reason | None:
    if polarity.denial_differs(claim, quote):
        return "denial"
    if polarity.opposite_differs(claim, quote):
        return "opposite"
    strength = polarity.strength_differs(claim, quote)
    if strength:
        return strength
    if polarity.condition_lost(claim, quote, given):
        return "condition"
    return "order" if polarity.is_ordered(claim, quote) else None
