"""Near copies: what a sentence that repeats its quote almost word for word has changed in it.

The entailment model reads meaning and may pass over one small word; a copy laid on its original shows it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

from graph.evidence.amounts import DIGITS
from graph.evidence.wording import plain
from graph.terms import is_content, stem, stems

Edit = Literal["name", "denial", "opposite", "strength", "condition", "added", "order"]
"""What was changed."""

NEAR_COPY = 0.6
"""Share of a sentence's words that stand in its quote in the same order, from which it is laid on it word by word."""
EXACT_COPY = 0.85
"""From this share on a sentence is a copy (``is_copy``)."""
_MOST_WORDS = 120
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")

_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[,;:.()!?—–]")

_NEGATORS = frozenset(
    "not no never none nobody nothing neither nor cannot without unable except excluding hardly rarely seldom".split()
)
_CONDITIONS = frozenset("if unless except provided only".split())
_CONDITIONAL = _CONDITIONS | frozenset("when whenever where until assuming depending subject with without".split())
_HEDGES = frozenset("may might could possibly perhaps allegedly reportedly some sometimes often usually most".split())
_SOFT = _HEDGES | frozenset("can likely probably generally many several".split())
_STRONG = frozenset("must shall required always all every only never solely".split())
_SPEECH = frozenset("say reply respond answer output print write repeat tell pretend state".split())
_SPEECH_BEFORE = frozenset(
    ". , ; : ( — – ! ? and then please must should shall will always only instead just to you".split()
)
"""What stands before such a verb where it gives an order to the reader."""
_OPPOSITES = {
    frozenset(pair.split("/"))
    for pair in (
        "rise/fall|rose/fell|increase/decrease|increases/decreases|before/after|more/less|minimum/maximum|least/most|"
        "first/last|above/below|open/close|opens/closes|enable/disable|enabled/disabled|allowed/forbidden|"
        "required/optional|public/private|internal/external|with/without|include/exclude|includes/excludes|"
        "safe/unsafe|paid/unpaid|always/never"
    ).split("|")
}


def edit_of(claim: str, quote: str, around: Collection[str], given: Collection[str]) -> Edit | None:
    """What *claim*, a near copy of *quote*, has changed; None where nothing, or where it is no near copy.

    *around* are the stems that stand about the quote (its neighbours, title and section), *given* those of the
    question: what they say may be added.
    """
    own, other = _words(claim), _words(quote)
    left, right = [word.lower() for word in own], [word.lower() for word in other]
    matcher = SequenceMatcher(None, [*map(stem, left)], [*map(stem, right)], autojunk=False)
    blocks = [block for block in matcher.get_matching_blocks() if block.size]
    shared = sum(block.size for block in blocks)
    if not blocks or shared < NEAR_COPY * len(left):
        return None
    first, last = blocks[0].b, blocks[-1].b + blocks[-1].size
    if _denials(left) % 2 != _denials(right[first:last]) % 2:
        return "denial"
    if _lost_condition(left, right, blocks, given):
        return "condition"
    known = {stem(word) for word in right} | set(around) | set(given)
    added: list[str] = []
    for (i, i_end), (j, j_end) in _gaps(blocks, len(left), len(right)):
        new, old = left[i:i_end], right[j:j_end]
        if any(frozenset((a, b)) in _OPPOSITES for a in new for b in old):
            return "opposite"
        weak = not _SOFT.isdisjoint(old) and _SOFT.isdisjoint(left)
        if (weak and not _HEDGES.isdisjoint(old) and i > 0) or not _STRONG.isdisjoint(set(new) - set(right)):
            return "strength"
        if len(new) <= 4 and _renamed(own[max(i, 1) : i_end], other[j:j_end], known):
            return "name"
        added += [word for word in new if is_content(word) and stem(word) not in known] if not old else []
    return "added" if len(added) > 1 else None


def is_ordered(claim: str, quote: str) -> bool:
    """Whether *quote* orders its reader to say what *claim* says: "reply that …", "answer: …"."""
    tokens = [token.lower() for token in _TOKEN.findall(plain(quote))]
    wanted = frozenset(stems(plain(claim)))
    for at, token in enumerate(tokens):
        before = tokens[at - 1] if at else "."
        if token in _SPEECH and before in _SPEECH_BEFORE and stem(token) not in wanted:
            said = {stem(word) for word in tokens[at + 1 :]}
            if 2 * len(wanted & said) > len(wanted):
                return True
    return False


def is_copy(claim: str, quote: str) -> bool:
    """Whether nearly all words of *claim* stand in *quote* in the same order, or all that mean something in any order.

    A number is the same in digits and in words; where the order is another, both deny or neither does.
    """
    left, right = ([word.lower() for word in _words(text)] for text in (claim, quote))
    own, other = ([stem(DIGITS.get(word, word)) for word in words] for words in (left, right))
    blocks = SequenceMatcher(None, own, other, autojunk=False).get_matching_blocks()
    if sum(block.size for block in blocks) >= EXACT_COPY * max(1, len(own)):
        return True
    meant = {stem(DIGITS.get(word, word)) for word in left if is_content(word)}
    return len(meant) > 2 and meant <= set(other) and _denials(left) % 2 == _denials(right) % 2


@lru_cache(maxsize=1024)
def _words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.replace("’", "'"))[:_MOST_WORDS])


def _denials(words: Sequence[str]) -> int:
    """Denials among *words*; "not only" and "no later than" are none."""
    count = 0
    for at, word in enumerate(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        if word in _NEGATORS or word.endswith("n't"):
            count += after not in ("only", "just", "more", "less", "fewer", "later", "longer", "than")
    return count


def _gaps(
    blocks: Sequence[tuple[int, int, int]], own: int, other: int
) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """The stretches of both sides between what they share."""
    found, i, j = [], 0, 0
    for a, b, size in [*blocks, (own, other, 0)]:
        if a > i or b > j:
            found.append(((i, a), (j, b)))
        i, j = a + size, b + size
    return found


def _lost_condition(
    left: Sequence[str], right: Sequence[str], blocks: Sequence[tuple[int, int, int]], given: Collection[str]
) -> bool:
    """Whether the quote says it under a condition that the claim leaves out and the question does not name."""
    if not _CONDITIONAL.isdisjoint(left):
        return False
    for (_, _), (j, j_end) in _gaps(blocks, len(left), len(right)):
        for at in range(j, j_end):
            if right[at] in _CONDITIONS:
                condition = [stem(word) for word in right[at + 1 : j_end] if is_content(word)]
                if condition and sum(word in given for word in condition) < len(condition) / 2:
                    return True
    return False


def _renamed(own: Sequence[str], other: Sequence[str], known: Collection[str]) -> bool:
    """Whether a name stands for another: both sides are capitalised, and the new one stands nowhere about."""
    left, right = ([word for word in side if word[0].isupper() and is_content(word.lower())] for side in (own, other))
    initials = "".join(word[0] for word in right).lower()
    return bool(left and right) and any(stem(word.lower()) not in known and word.lower() != initials for word in left)
