"""Find what a sentence changed that repeats its quote almost word for word.

The entailment model reads meaning and may miss one small word; aligning a copy with its original shows it.
"""

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Literal

from answering.text.amounts import UNITS_BY_NAME, amounts, unmatched
from answering.text.terms import AUXILIARIES, is_content, is_number, stem, stems, without_accents

Change = Literal["amount", "name", "denial", "opposite", "condition", "order"]
NEAR_COPY, EXACT_COPY = 0.55, 0.85
"""Shares of a sentence's words in the order of its quote: from the first, its denials aside, the two are aligned; from
the second it is a copy."""
_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’][^\W\d_]+)*")
_TOKEN = re.compile(r"[^\W_]+(?:['’][^\W_]+)*|[,;:.()!?—–\"“]")

_NEGATORS = frozenset(
    "not no non never none nobody nothing neither cannot without unable except excluding hardly rarely seldom".split()
)
_CONDITIONS = frozenset("if unless except provided only until".split())
_CONDITIONAL = _CONDITIONS | frozenset("when whenever where would assuming depending subject with without".split())
_SOFTENED = frozenset("only just more less fewer later than matter".split())
_SPEECH = frozenset("say reply respond answer output print write repeat tell pretend state".split())
_ORDERS = frozenset(". , ; : ( — – ! ? and then please must should shall will always only instead just to you".split())
"""Tokens before such a verb where it gives the reader an order."""
_OPPOSITES = dict(
    pair.split("/")
    for pair in "rise/fall rose/fell more/less before/after open/close opens/closes required/optional paid/unpaid "
    "safe/unsafe enabled/disabled allowed/forbidden with/without included/excluded minimum/maximum always/never "
    "longer/shorter heavier/lighter above/below over/under higher/lower larger/smaller earlier/later older/younger "
    "until/from".split()
)


def edit_of(claim: str, quote: str) -> Change | None:
    """Find what *claim* changed of *quote*; None for no change or no near copy.

    "order": *quote* orders its reader to say what *claim* says.
    """
    if _is_ordered(claim, quote):
        return "order"
    left, right = _words(claim), _words(quote)
    matcher = SequenceMatcher(None, [*map(stem, left)], [*map(stem, right)], autojunk=False)
    *blocks, _ = matcher.get_matching_blocks()
    if not blocks or sum(block.size for block in blocks) < NEAR_COPY * (len(left) - _denials(left)):
        return None
    begin, end = blocks[0].b, blocks[-1].b + blocks[-1].size
    turned = _softened(left) ^ _softened(right[max(0, begin - 1) : end])  # "no more than" -> "more than"
    # What stands before may only have moved: "you cannot | change the name" -> "the name cannot be changed",
    # "we do not cover: | glasses" -> "glasses are not covered"
    lead = {stem(word) for word in right[:begin] if is_content(word) and word not in _NEGATORS}
    tail = map(stem, left[blocks[-1].a + blocks[-1].size :])
    moved = lead <= {*map(stem, left)} or not lead.isdisjoint(tail)
    ahead = moved or _denials(left[: blocks[0].a])  # "no receipt | for taxis" of "these need no receipt: | taxis"
    denied = _denials(right[:begin]) if ahead else _denied(right[:begin])
    if _denials(left) % 2 != (_denials(right[begin:end]) + denied) % 2 or turned & {*left} & {*right}:
        return "denial"
    gaps = [bounds for tag, *bounds in matcher.get_opcodes() if tag != "equal"]
    aside = sum(block.size for block in blocks) + sum(map(is_number, left)) >= EXACT_COPY * len(left)
    exchanged = ((" ".join(left[i:i_end]), " ".join(right[j:j_end])) for i, i_end, j, j_end in gaps)
    if aside and any(len(amounts(a)) == len(amounts(b)) and unmatched(a, (b,)) for a, b in exchanged):
        return "amount"  # stated, but of something else
    for one, other in ((a, b) for i, i_end, j, j_end in gaps for a in left[i:i_end] for b in right[j:j_end]):
        if other == _OPPOSITES.get(one) or one == _OPPOSITES.get(other):
            return "opposite"
    fresh = {word for i, i_end, _, _ in gaps for word in left[i:i_end]} | {"would"}.intersection(left)
    lost = (at for _, _, j, j_end in gaps for at in range(j, j_end) if any(map(is_content, right[at + 1 : j_end])))
    return "condition" if any(right[at] in _CONDITIONS for at in lost) and _CONDITIONAL.isdisjoint(fresh) else None


def _is_ordered(claim: str, quote: str) -> bool:
    """Whether *quote* orders its reader to say what *claim* says: "reply that …", "answer: …"."""
    tokens = [token.lower() for token in _TOKEN.findall(without_accents(quote))]
    claim_stems = frozenset(stems(without_accents(claim)))
    for at, token in enumerate(tokens):
        reported = {"that", ":", '"', "“"}.intersection(tokens[at + 1 : at + 5])
        ordered = reported and token in _SPEECH and (tokens[at - 1] if at else ".") in _ORDERS
        if ordered and stem(token) not in claim_stems:
            return 2 * len(claim_stems.intersection(map(stem, tokens[at + 1 :]))) > len(claim_stems)
    return False


def is_copy(claim: str, quote: str) -> bool:
    """Whether *quote* has nearly all words of *claim* in order, or all content words, numbers and units aside.

    In another order, both must deny or neither.
    """
    said = _words(claim)
    left, right = ([word for word in words if not _is_of_amount(word)] for words in (said, _words(quote)))
    claim_stems, quote_stems = [*map(stem, left)], [*map(stem, right)]
    blocks = SequenceMatcher(None, claim_stems, quote_stems, autojunk=False).get_matching_blocks()
    if sum(block.size for block in blocks) + len(said) - len(left) >= EXACT_COPY * max(1, len(said)):
        return True
    meant = {stemmed for word, stemmed in zip(left, claim_stems, strict=True) if is_content(word)}
    return len(meant) > 2 and meant <= set(quote_stems) and _denials(left) % 2 == _denials(right) % 2


def _is_of_amount(word: str) -> bool:
    return is_number(word) or word in UNITS_BY_NAME


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower().replace("’", "'"))[:120]


def denies(text: str) -> bool:
    """Whether *text* has a denial."""
    return _denials(_words(text)) > 0


def _denied(before: Sequence[str]) -> bool:
    """Whether the words *before* a copied stretch deny it: "is not | so", "not | all", "no | staff", "none of | …"."""
    *_, auxiliary, last = "", "", *before
    plainly = last in ("not", "never") and (auxiliary in AUXILIARIES or not auxiliary)
    return plainly or last in ("no", "non", "nor", "neither") or "none" in before[-3:]


def _softened(words: Sequence[str]) -> set[str]:
    """Return the words that follow a negator without a denial: "not only", "no later than"."""
    threes = zip(words, words[1:], [*words[2:], ""], strict=False)
    return {b for a, b, c in threes if a in _NEGATORS and (b in _SOFTENED or (b, c) == ("longer", "than"))}


def _denials(words: Sequence[str]) -> int:
    """Count the denials among *words*, but for "or not" and those that are softened."""
    softened = _softened(words)
    return sum(
        (word in _NEGATORS or word.endswith("n't")) and after not in softened and before != "or"
        for before, word, after in zip(["", *words], words, [*words[1:], ""], strict=False)
    )
