"""Whether two sentences differ in what they deny, weaken, turn round, or make a condition of."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Sequence
from typing import Literal

from graph.evidence import lexicon
from graph.evidence.statement import Statement, roots_of
from graph.terms import stem


def denial_differs(claim: Statement, quote: Statement) -> bool:
    """Whether one of the two denies what the other says without denial."""
    for scope in claim.denials:
        shared = quote.stems.intersection(scope)
        unmatched = not quote.denied & shared if shared else not quote.denials
        if unmatched and not any(_prefixed(word, quote) for word in scope):
            return True
    if len(quote.denials) > 1 and not claim.denials and "without" in quote.words:
        return False  # "not … without …" affirms
    for scope in quote.denials:
        hit = frozenset(scope).difference(quote.affirmed) & claim.stems
        strong = scope[0] in claim.stems or 2 * len(hit) >= len(scope)
        if hit and strong and not claim.denied.intersection(scope) and not any(_prefixed(w, claim) for w in scope):
            return True
    return _prefix_differs(claim, quote) or _prefix_differs(quote, claim)


def _prefixed(word: str, other: Statement) -> bool:
    """Whether *other* has *word* with a denying prefix: "unsafe" for "safe"."""
    return word.rstrip("e") in other.roots


def _prefix_differs(left: Statement, right: Statement) -> bool:
    """Whether *left* says "unsafe" where *right* says "safe", neither of them under a denial."""
    prefixed = [word for word in left.stems - right.stems - left.denied if word.startswith(lexicon.PREFIXES)]
    if not prefixed:
        return False
    plain = {word.rstrip("e") for word in right.stems - left.stems - right.denied}
    return any(roots_of(word) & plain for word in prefixed)


def opposite_differs(claim: Statement, quote: Statement) -> bool:
    """Whether *claim* has the opposite of a word of *quote* in the same surroundings: "rose" for "fell"."""
    own, other = claim.all_stems - quote.all_stems, quote.all_stems - claim.all_stems
    for word in own:
        for opposite in lexicon.OPPOSITES.get(word, frozenset()) & other:
            if (word in claim.denied) == (opposite in quote.denied) and _around(claim, word) & _around(quote, opposite):
                return True
    return False


def _around(statement: Statement, wanted: str) -> frozenset[str]:
    """The two content stems on either side of the word whose stem is *wanted*."""
    found: set[str] = set()
    for i in statement.places.get(wanted, ()):
        left, right = bisect_left(statement.said, i), bisect_right(statement.said, i)
        for side in (statement.said[max(0, left - 2) : left][::-1], statement.said[right : right + 2]):
            found.update([word for place in side for word in statement.content[place]][:2])
    return frozenset(found)


def strength_differs(claim: Statement, quote: Statement) -> Literal["hedge", "duty", "all", "only"] | None:
    """Why *claim* is stronger than *quote*: "hedge", "duty", "all" or "only"; None when it is not."""
    if not claim.words & lexicon.SOFT and _scoped(quote, lexicon.HEDGES, claim):
        return "hedge"
    if claim.words & lexicon.DUTIES and not quote.words & lexicon.DUTIES and _scoped(quote, lexicon.CHOICES, claim):
        return "duty"
    heads = {quote.reach(i + 1, 1) for i, token in enumerate(quote.tokens) if token in lexicon.PART}
    full = {quote.reach(i + 1, 1) for i, token in enumerate(quote.tokens) if token in lexicon.ALL}
    for i, token in enumerate(claim.tokens):
        if token in lexicon.ALL and claim.reach(i + 1, 1) in heads - full - {()}:
            return "all"
        if token in lexicon.ONLY and _restricts(claim.tokens, i) and not quote.words & lexicon.ONLY_TOO:
            return "only"
    return None


def _scoped(quote: Statement, words: frozenset[str], claim: Statement) -> bool:
    """Whether one of *words* in *quote* stands right before something that *claim* says too."""
    heads = (quote.reach(i + 1, 1) for i, token in enumerate(quote.tokens) if token in words)
    return any(head and head[0] in claim.stems for head in heads)


def _restricts(tokens: Sequence[str], i: int) -> bool:
    """Whether the "only" at *i* restricts, unlike in "not only" and "only one"."""
    after = tokens[i + 1] if i + 1 < len(tokens) else ""
    return not (i and tokens[i - 1] == "not") and after not in ("a", "an", "one") and not after[:1].isdigit()


def condition_lost(claim: Statement, quote: Statement, given: Collection[str]) -> bool:
    """Whether *quote* says it under a condition that neither *claim* nor what is *given* (the question) mentions."""
    if claim.words & lexicon.CONDITIONAL:
        return False
    for i, token in enumerate(quote.tokens):
        if token not in lexicon.CONDITIONS or (i and quote.tokens[i - 1] in lexicon.WONDERING):
            continue
        before = quote.before(i)
        if i and not (before and before <= claim.stems):
            continue  # the condition of something else
        condition = frozenset(quote.reach(i + 1, whole=True))
        met = sum(word in claim.stems or word in given for word in condition)
        if condition and met < len(condition) / 2:
            return True
    return False


def is_ordered(claim: Statement, quote: Statement) -> bool:
    """Whether *quote* orders its reader to say what *claim* says: "reply that …", "answer: …"."""
    said: set[str] = set()
    for i in range(len(quote.tokens) - 1, -1, -1):
        token, before = quote.tokens[i], quote.tokens[i - 1] if i else "."
        orders = token in lexicon.SPEECH and before in lexicon.SPEECH_BEFORE and stem(token) not in claim.stems
        if orders and said and len(claim.stems & said) * 2 > len(claim.stems):
            return True
        said.update(quote.content[i])
    return False
