"""A sentence cut into clauses that can each be checked, for sentences that put together what stands apart."""

from __future__ import annotations

import re
from itertools import pairwise

from graph.sentences import Span
from graph.terms import stems

LEAST_WORDS = 3
"""Content words a clause needs to be checked by itself; a shorter one stays with the clause before it."""

_BOUNDARY = re.compile(
    r"[;:][ \n]+|[ ](?:[—–]|--)[ ]|,[ \n]+|[ \n](?=(?:and|but|while|whereas|although|though|because|which)[ \n])"
)
_LEAD = re.compile(r"(?:[\s,;:—–-]|(?:and|but|while|whereas|although|though|which|then|also)\b(?=\s))+", re.IGNORECASE)
_PREFACE = re.compile(
    r"\W*(?:according to|based on|as (?:stated|noted|mentioned|described) in|per)\s+(?:the\s+)?(?:\w+\s+){0,2}"
    r"(?:chunks?|sources?|documents?|passages?|texts?|context|excerpts?|information)\b[^,.;:\n]{0,40},\s*",
    re.IGNORECASE,
)


def claim_span(text: str, start: int, end: int) -> Span:
    """*start*:*end* of *text* without what opens or ends a clause, and without "According to the document,"."""
    lead = _PREFACE.match(text, start, end)
    start = lead.end() if lead else start
    lead = _LEAD.match(text, start, end)
    start = lead.end() if lead else start
    while end > start and text[end - 1] in " ,;:\n\t—–":
        end -= 1
    return start, end


def clauses(text: str, start: int, end: int) -> list[Span]:
    """The clauses of the sentence at *start*:*end* of *text*; one when it has no second that could stand by itself."""
    edges = [start, *(found.end() for found in _BOUNDARY.finditer(text, start, end)), end]
    found: list[Span] = []
    for begin, stop in pairwise(edges):
        if found and (_is_short(text[begin:stop]) or _is_short(text[slice(*found[-1])])):
            found[-1] = (found[-1][0], stop)
        else:
            found.append((begin, stop))
    return [claim_span(text, *span) for span in found]


def _is_short(clause: str) -> bool:
    return len(frozenset(stems(clause))) < LEAST_WORDS
